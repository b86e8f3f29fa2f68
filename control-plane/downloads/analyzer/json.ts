/** The JSON of strangers: an object, or nothing. */
export function objectIn(text: string | null): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text ?? '') as unknown
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
