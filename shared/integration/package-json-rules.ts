/**
 * How package.json may change: it gains `service-node` at the service's own address, and nothing
 * else about it is another. Scripts run at an install, and every other name in it is somebody's code.
 */

/** `sdkUrl`: null where it is not known, and then nothing may change. */
export function packageJsonProblem(
  before: string | null,
  after: string,
  sdkUrl: string | null,
): string | null {
  if (before === null) return 'may not be created: it says what is installed and what runs then'
  if (sdkUrl === null)
    return 'may not be changed: the address that service-node comes from is not known'
  const was = parsePackage(before)
  if (typeof was === 'string') return `cannot be judged as it is now: it ${was}`
  const is = parsePackage(after)
  if (typeof is === 'string') return `would be broken: it ${is}`
  const rest = [withoutOurs(was), withoutOurs(is)] as const
  const changed = changedKeys(...rest)
  if (changed.length > 0)
    return `may only gain service-node in its dependencies: this would change ${changed.join(', ')}`
  const address = ours(is)
  return address === sdkUrl
    ? null
    : `may only gain service-node from ${sdkUrl}, and this would be ${JSON.stringify(address ?? null)}`
}

type Json = Readonly<Record<string, unknown>>

function parsePackage(text: string): Json | string {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return 'is not valid JSON'
  }
  if (!isObject(parsed)) return 'is not an object'
  const twice = repeatedKey(text)
  if (twice !== null) return `has the key ${JSON.stringify(twice)} twice in one object`
  if (JSON.stringify(parsed).includes('"__proto__":')) return 'has a key "__proto__"'
  if ('dependencies' in parsed && !isObject(parsed['dependencies']))
    return 'has dependencies that are not an object'
  return parsed
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const dependencies = (parsed: Json) => (parsed['dependencies'] ?? {}) as Json
const ours = (parsed: Json) => dependencies(parsed)['service-node']

function withoutOurs(parsed: Json): Json {
  const { 'service-node': _, ...others } = dependencies(parsed)
  const { dependencies: __, ...rest } = parsed
  return Object.keys(others).length === 0 ? rest : { ...rest, dependencies: others }
}

/** By value and by order: the first condition of `exports` that fits is the one that counts. */
function changedKeys(was: Json, is: Json): string[] {
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])]
  const text = (value: unknown) => JSON.stringify(value) ?? ''
  return names.filter((name) => text(was[name]) !== text(is[name])).map((name) => text(name))
}

/** JSON.parse takes the last of two; another reader of the same file may take the first. */
function repeatedKey(validJson: string): string | null {
  const open: (Set<string> | null)[] = []
  for (const [token, quoted] of validJson.matchAll(/("(?:[^"\\]|\\.)*")(?:\s*:)?|[{}[\]]/g)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(null)
    else if (quoted === undefined) open.pop()
    else if (token.endsWith(':')) {
      const key = JSON.parse(quoted) as string
      const keys = open.at(-1)
      if (keys?.has(key)) return key
      keys?.add(key)
    }
  }
  return null
}
