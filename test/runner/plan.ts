/**
 * Which test files share a process. Neighbours do, in the order of their names: what they import is
 * loaded once. A file that has to be alone says so, and why, in a line of its own:
 *
 *     // apart: measures the heap of its process
 *
 * `// long: why` does the same and leaves it to `npm run test:long`. Whoever is alone and hardly works
 * while it takes its time says that as well, and is run beside the others:
 *
 *     // waits: for leases of programs that were killed
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** What ends as one process; small enough that neither core waits for the last of them. */
export interface Unit {
  readonly name: string
  readonly files: readonly string[]
  /** It takes more time than work. */
  readonly isWaiting: boolean
}

/** `all`: of what is asked for, whether it takes long or not. */
export type Part = 'first' | 'long' | 'all'

/**
 * So many files share a process: a leak or a crash is looked for among these. Whoever comes behind
 * another finds imported and warm what both stand on, which is seconds of work for each process.
 */
const FILES_MAX = 36

/** Of rooms whose files start programs and browsers, and take a minute each. */
const LONG_FILES_MAX = 16
const TAKES_LONG = ['test/browser', 'test/flows', 'test/flows/one-fleet']

/** Begun first, since they take longest; the small ones fill the gaps at the end. */
const LONGEST = [
  'test/strangers/corpus',
  'test/shared/enforcement/access-million.test.ts',
  'test/control-plane/store',
  ...TAKES_LONG,
  'test/conformance',
  'test/control-plane',
  'test/gateway',
]

/** Rooms with programs of their own, which their files share. */
const BY_THEMSELVES = [...TAKES_LONG, 'test/conformance']

const APART = /^\/\/ apart: \S/m
const LONG = /^\/\/ long: \S/m
const WAITS = /^\/\/ waits: \S/m

export function testFiles(root: string): string[] {
  const files = globSync('test/**/*.test.ts', { cwd: root })
  return files.filter((file) => !file.startsWith('test/fixtures/')).sort()
}

export function planned(root: string, part: Part, asked: readonly string[] = []): Unit[] {
  const alone: Unit[] = []
  const rooms = new Map<string, string[]>()
  for (const file of testFiles(root)) {
    if (asked.length > 0 && !asked.some((place) => isAt(file, place))) continue
    const text = readFileSync(`${root}/${file}`, 'utf8')
    const isLong = LONG.test(text)
    if (part !== 'all' && part !== (isLong ? 'long' : 'first')) continue
    if (APART.test(text) || isLong)
      alone.push({ name: file, files: [file], isWaiting: WAITS.test(text) })
    else rooms.set(roomOf(file), [...(rooms.get(roomOf(file)) ?? []), file])
  }
  const shared = [...rooms].flatMap(([name, files]) =>
    inParts(name, files).map((files) => ({ name, files, isWaiting: false })),
  )
  return [...alone, ...shared].sort((one, other) => rank(one) - rank(other))
}

/** `test/control-plane` of whatever is below it: these rooms stand on the same things. */
function roomOf(file: string): string {
  const folder = dirname(file)
  return BY_THEMSELVES.includes(folder) ? folder : folder.split('/').slice(0, 2).join('/')
}

/** As even as they can be: thirteen files are seven and six. */
function inParts(room: string, files: readonly string[]): string[][] {
  const filesMax = TAKES_LONG.includes(room) ? LONG_FILES_MAX : FILES_MAX
  const count = Math.ceil(files.length / filesMax)
  const size = Math.ceil(files.length / count)
  return Array.from({ length: count }, (_, part) => files.slice(part * size, (part + 1) * size))
}

const isAt = (file: string, place: string) =>
  file === place || file.startsWith(`${place.replace(/\/$/, '')}/`)

function rank({ name }: Unit): number {
  const place = LONGEST.findIndex((room) => isAt(name, room))
  return place === -1 ? LONGEST.length : place
}
