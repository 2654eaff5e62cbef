/** How many nodes have to store a write, and how many elect a leader. @see server-semantics section 19 */
export function quorums(nodesCount: number): { readonly write: number; readonly elect: number } {
  if (nodesCount === 2) return { write: 2, elect: 2 };
  const write = Math.min(Math.ceil(nodesCount / 2), 3);
  return { write, elect: nodesCount - write + 1 };
}
