// Constants of XXH3 and XXH64, see the xxHash specification.
export const P32_1: u64 = 0x9e3779b1;
export const P32_2: u64 = 0x85ebca77;
export const P32_3: u64 = 0xc2b2ae3d;
export const P64_1: u64 = 0x9e3779b185ebca87;
export const P64_2: u64 = 0xc2b2ae3d27d4eb4f;
export const P64_3: u64 = 0x165667b19e3779f9;
export const P64_4: u64 = 0x85ebca77c2b2ae63;
export const P64_5: u64 = 0x27d4eb2f165667c5;
export const MIX_1: u64 = 0x165667919e3779f9;
export const MIX_2: u64 = 0x9fb21c651e98df25;
