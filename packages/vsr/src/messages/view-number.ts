/**
 * Answer to a requestStartView that wants it: this is the view of the sender's superblock.
 *
 * A replica that lost its own superblock may have promised its peers not to act in older views. It hears from
 * so many of them that one of those is among them.
 * @see Viewstamped Replication Revisited, section 4.3, step 2
 */
export interface ViewNumber {
  readonly kind: "viewNumber";
  readonly view: number;
  readonly replica: number;
  /** Of the request this answers. */
  readonly nonce: number;
}
