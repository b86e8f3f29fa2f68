/** Who closes, when a case is over, what it has opened. */
export interface Scope {
  teardown(close: () => unknown): void
}
