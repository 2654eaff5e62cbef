/** File name of a snapshot taken at `wallMicros`: `iggy_snapshot_YYYYMMDD_HHMMSS.zip`, in UTC. */
export function snapshotName(wallMicros: number): string {
  const digits = new Date(wallMicros / 1000).toISOString().replace(/\D/g, "");
  return `iggy_snapshot_${digits.slice(0, 8)}_${digits.slice(8, 14)}.zip`;
}
