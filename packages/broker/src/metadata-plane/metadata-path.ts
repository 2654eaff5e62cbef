/** Folder of the metadata journal, its snapshot and the superblock. */
export const METADATA_PATH = "metadata";
