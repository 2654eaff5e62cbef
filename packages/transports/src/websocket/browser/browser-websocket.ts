/** What we use of a browser's `WebSocket`. @see WHATWG WebSockets, section 3.1 */
export interface BrowserWebSocket {
  binaryType: string;
  readonly bufferedAmount: number;
  onopen: (() => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onerror: (() => void) | null;
  onclose: ((event: { readonly code: number; readonly wasClean: boolean }) => void) | null;
  send(bytes: Uint8Array): void;
  close(code?: number): void;
}

/** The runtime's own WebSocket; undefined where there is none (Node 20). */
export function browserWebSocket(): (new (url: string) => BrowserWebSocket) | undefined {
  return (globalThis as { WebSocket?: new (url: string) => BrowserWebSocket }).WebSocket;
}
