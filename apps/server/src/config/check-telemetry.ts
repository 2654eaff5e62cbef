import { invalid } from "./invalid-setting.ts";
import type { Config } from "./schema.ts";

/**
 * Checks the collector's addresses when telemetry is on.
 *
 * @throws CodedError InvalidConfiguration
 */
export function checkTelemetry(telemetry: Config["telemetry"]): void {
  if (!telemetry.enabled) return;
  for (const signal of ["logs", "traces"] as const) {
    const key = `telemetry.${signal}.endpoint`;
    const { endpoint } = telemetry[signal];
    const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol)) {
      throw invalid(key, "is no address such as http://localhost:4318/v1/traces");
    }
    // It would be written to current_config.toml, which holds no secrets.
    if (url.username !== "" || url.password !== "") throw invalid(key, "holds credentials; leave them out");
  }
}
