import type { Shard } from "../shard.ts";

/**
 * Why nobody can log in at a node of a cluster for want of other nodes, for people; nothing where that is not
 * so. It counts nodes and names none: on a node that knows nobody a stranger hears it too.
 */
export function whyNoLogin({ metadata, catalog, roster }: Shard): string | undefined {
  if (!metadata.isReplicated) return undefined;
  const { nodes } = roster();
  const reached = nodes.filter(({ status }) => status === "healthy").length;
  const majority = Math.floor(nodes.length / 2) + 1;
  const reach = `Of the ${nodes.length} nodes of its cluster this one reaches ${reached}, itself among them`;
  if (catalog.counts().users === 0) {
    return (
      `The cluster has not taken this node in, which knows no users yet. ${reach}. A new cluster begins once all ` +
      "of its nodes have been started; a node that was away is taken in by a majority of them."
    );
  }
  return reached < majority ? `${reach}, and a login takes ${majority}.` : undefined;
}
