/** What a line of a shell starts: the files, scripts and frameworks that it names. It is read, never run. */

export type Run =
  /** As it is written, relative to the folder that the line is for. */
  | {
      readonly kind: 'file'
      readonly path: string
      readonly port?: number
      /** What the file is given: `view`, `--config`, `config.json`. */
      readonly given?: readonly string[]
    }
  | { readonly kind: 'script'; readonly name: string }
  | { readonly kind: 'next'; readonly port: number | null }
  /** The project of a nest-cli.json; null is its own. */
  | { readonly kind: 'nest'; readonly project: string | null }
  /** fastify-cli makes the application; the file is a plugin of it. */
  | { readonly kind: 'plugin'; readonly path: string; readonly port?: number }

const WORDS_MAX = 200
const DEPTH_MAX = 4

export function runsOf(line: string, depth = 0): Run[] {
  if (depth > DEPTH_MAX) return []
  // $(…) is run for what it prints
  const plain = line.slice(0, 4000).replace(/\$\([^()]*\)/g, '_')
  return segmentsOf(plain).flatMap((words) => runsOfWords(words, depth))
}

/** `A=b node "x y.js" && z` gives `A=b`, `node`, `x y.js` and then `z`. */
function segmentsOf(line: string): string[][] {
  const segments: string[][] = [[]]
  const WORD = /&&|\|\||[;|&\n]|(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s;|&"'\\])+/g
  let count = 0
  for (const [word] of line.matchAll(WORD)) {
    if (++count > WORDS_MAX) break
    if (/^(?:&&|\|\||[;|&\n])$/.test(word)) segments.push([])
    else
      segments
        .at(-1)
        ?.push(
          word.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'/g, (_, a?: string, b?: string) =>
            a === undefined ? (b ?? '') : a.replace(/\\(["\\])/g, '$1'),
          ),
        )
  }
  return segments
}

/** They start what follows them, perhaps behind flags and a `--`. */
const WRAPPERS =
  /^(?:cross-env(?:-shell)?|env|env-cmd|dotenv(?:x)?|npx|bunx|exec|sudo|dumb-init|tini|time|nohup|c8|nyc|doppler|infisical|op|chamber|node-env-run|nr|wait-on|docker-entrypoint\.sh)$/
const SHELL = /^(?:\/bin\/)?(?:ba|da|z)?sh$/
const RUNNERS =
  /^(?:node|nodejs|nodemon|ts-node(?:-dev|-esm|-script)?|tsnd|tsx|node-dev|bun|deno|babel-node|esno|esmo|vite-node|swc-node|sucrase-node|jiti|supervisor|forever|pm2(?:-runtime|-dev|-docker)?|strong-cluster-control|slc|newrelic)$/
const MANAGERS = /^(?:npm|yarn|pnpm|bun)$/
const TAKES_VALUE =
  /^(?:-r|--require|--import|--loader|--experimental-loader|--env-file|-P|--project|--tsconfig|--name|-n|-i|--instances|-e|--ext|--ignore|-w|--watch-path|--delay|--cwd|-f|-O|--compiler-options|--inspect-port)$/
const SUBCOMMANDS: ReadonlySet<string> = new Set(['start', 'run', 'watch', 'restart', 'serve'])

function runsOfWords(words: readonly string[], depth: number): Run[] {
  const [program = '', ...rest] = unwrapped(words)
  const name = program.split('/').at(-1) ?? ''
  if (SHELL.test(program))
    return rest.flatMap((word) =>
      /\s/.test(word) ? runsOf(word, depth + 1) : word.startsWith('-') ? [] : fileRuns([word]),
    )
  if (MANAGERS.test(name)) {
    const script = scriptOf(name, rest)
    // npm run with:env -- node server.js
    const dashes = rest.indexOf('--')
    const behind = dashes < 0 ? [] : runsOfWords(rest.slice(dashes + 1), depth + 1)
    if (script !== null) return [{ kind: 'script', name: script }, ...behind]
    if (name !== 'bun') return rest[0] === 'exec' ? runsOfWords(rest.slice(1), depth + 1) : []
  }
  if (name === 'next')
    return /^(?:start|dev)$/.test(rest[0] ?? 'dev') ? [{ kind: 'next', port: portFlag(rest) }] : []
  if (name === 'nest')
    return rest[0] === 'start' ? [{ kind: 'nest', project: bare(rest)[1] ?? null }] : []
  if (name === 'fastify') return rest[0] === 'start' ? pluginRuns(rest) : []
  if (/^(?:concurrently|conc)$/.test(name)) return bare(rest).flatMap((line) => many(line, depth))
  if (/^(?:npm-run-all2?|run-p|run-s)$/.test(name))
    return bare(rest).map((name) => ({ kind: 'script', name }))
  if (RUNNERS.test(name)) {
    // nodemon --exec "ts-node src/server.ts"
    const lines = rest.filter((word) => /\s/.test(word))
    const inner = lines.flatMap((line) => runsOf(line, depth + 1))
    if (inner.length > 0) return inner
    const given = rest.slice(rest.findIndex(isFileName) + 1)
    const port = portFlag(given)
    return fileRuns(bare(rest).filter((word) => !SUBCOMMANDS.has(word))).map((run) => ({
      ...run,
      ...(port !== null && { port }),
      ...(rest.some(isFileName) && given.length > 0 && { given }),
    }))
  }
  return /^\.{0,2}\/|^(?:bin|src|dist|build)\//.test(program) && !program.startsWith('/')
    ? fileRuns([program])
    : []
}

function unwrapped(words: readonly string[]): readonly string[] {
  let rest = words
  for (let i = 0; i < WORDS_MAX; i++) {
    const [first = ''] = rest
    if (/^\w+=/.test(first) || first === '--') rest = rest.slice(1)
    else if (WRAPPERS.test(first.split('/').at(-1) ?? '')) {
      const dashes = rest.indexOf('--')
      const isBehindDashes =
        dashes > 0 && rest.slice(1, dashes).every((word) => !RUNNERS.test(word))
      rest = rest.slice(isBehindDashes ? dashes + 1 : 1)
      while (/^-/.test(rest[0] ?? '')) rest = rest.slice(TAKES_VALUE.test(rest[0] ?? '') ? 2 : 1)
    } else return rest
  }
  return rest
}

/** In concurrently's words: `npm:dev` and `npm run dev` are the same, `npm:dev:*` is several. */
function many(line: string, depth: number): Run[] {
  const short = /^(?:npm|yarn|pnpm|bun):([\w:-]+)$/.exec(line)?.[1]
  return short === undefined ? runsOf(line, depth + 1) : [{ kind: 'script', name: short }]
}

function scriptOf(manager: string, rest: readonly string[]): string | null {
  // of another package
  if (
    rest.some((word) =>
      /^(?:-w|--workspace|--filter|-F|workspace|-C|--prefix|--cwd)(?:=|$)/.test(word),
    )
  )
    return null
  const [first, second] = bare(rest)
  if (first === undefined) return null
  if (/^run(?:-script)?$/.test(first))
    return second === undefined || isFileName(second) ? null : second
  if (/^(?:start|restart)$/.test(first)) return 'start'
  const isOwnCommand = /^(?:install|ci|i|add|exec|dlx|test|build|x|create|init)$/.test(first)
  return (manager === 'yarn' || manager === 'pnpm') && !isOwnCommand ? first : null
}

/** Without flags and what belongs to them. */
function bare(words: readonly string[]): string[] {
  const found: string[] = []
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? ''
    if (!word.startsWith('-')) found.push(word)
    else if (TAKES_VALUE.test(word)) i++
  }
  return found
}

/** A file by its ending first; then a folder or a module without one. */
function fileRuns(words: readonly string[]): (Run & { kind: 'file' })[] {
  const named = words.filter(isFileName)
  const chosen = named.length > 0 ? named : words.filter((word) => /^\.$|\/|^[\w-]+$/.test(word))
  return chosen.slice(0, 3).map((path) => ({ kind: 'file', path }))
}

function pluginRuns(words: readonly string[]): Run[] {
  const port = portFlag(words)
  return words
    .filter(isFileName)
    .map((path) => ({ kind: 'plugin', path, ...(port === null ? {} : { port }) }))
}

function isFileName(word: string): boolean {
  return /\.(?:[cm]?[jt]sx?|json)$/.test(word)
}

function portFlag(words: readonly string[]): number | null {
  const at = words.findIndex((word) => /^(?:-p|--port)(?:=|$)/.test(word))
  const written = words[at]?.split('=')[1] ?? words[at + 1] ?? ''
  const port = /^(?:\$\{\w+:-)?(\d{1,5})\}?$/.exec(written)?.[1]
  return at === -1 || port === undefined ? null : Number(port)
}
