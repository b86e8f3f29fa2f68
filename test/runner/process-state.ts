/** What a test file could leave behind for the files that share its process. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const

/** Taken away by whoever changed it: a later file must not pass or fail by it. */
const GLOBALS = ['fetch', 'Date', 'URLSearchParams', 'setTimeout', 'setInterval'] as const
const names = new Map<unknown, number>()

/** A number for each object that was ever seen in a place. */
function identity(value: unknown): number {
  const known = names.get(value) ?? names.size
  names.set(value, known)
  return known
}

/** One line for each thing, so that what differs names itself. */
export function processState(): string[] {
  return [
    `directory ${process.cwd()}`,
    `umask ${process.umask()}`,
    ...Object.entries(process.env).map(([name, value]) => `environment ${name}=${value}`),
    `environment has ${Object.keys(process.env).sort().join(' ')}`,
    ...SIGNALS.map((signal) => `listeners of ${signal}: ${process.listenerCount(signal)}`),
    ...GLOBALS.map((name) => `global ${name} is ${identity(globalThis[name])}`),
  ]
}
