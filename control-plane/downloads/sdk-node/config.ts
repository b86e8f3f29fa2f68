/** Where the defaults of options come from: read when a guard is made, not when it is imported. */
export function environment(): Readonly<Record<string, string | undefined>> {
  return process.env
}
