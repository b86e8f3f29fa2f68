/** Which frameworks a project may be made with, as far as it takes to show a model the right code. */
import { FRAMEWORKS } from '../../shared/integration/snippets.ts'
import type { SentProject } from './sent-files.ts'

/** Each costs a model as much as a file of the customer's. */
const SHOWN_MAX = 3

const LANGUAGE_OF: readonly (readonly [language: string, ending: RegExp])[] = [
  ['javascript', /\.(?:[cm]?[jt]sx?|vue|svelte)$/i],
  ['python', /\.py$/i],
  ['ruby', /\.(?:rb|ru)$/i],
  ['php', /\.php$/i],
  ['java', /\.(?:java|kt|kts|groovy)$/i],
  ['csharp', /\.(?:cs|cshtml|fs|vb)$/i],
  ['go', /\.go$/i],
]

/** Where the name in the contract is not the name in an import. */
const MARKS: Readonly<Record<string, RegExp>> = {
  nest: /@nestjs\//,
  next: /(?:^|["'`])next(?:["'`/]|$)/,
  node: /createServer\s*\(/,
  spring: /springframework/,
  laravel: /Illuminate\\|laravel/i,
  aspnet: /Microsoft\.AspNetCore|WebApplication\./,
  rails: /\bRails\b|ActionController|ApplicationController/,
  go: /^package /m,
}

/** The likeliest first. */
export function concernedFrameworks({ files, manifest }: SentProject): string[] {
  const paths = [...files.keys()]
  const languages = new Set(
    LANGUAGE_OF.filter(([, ending]) => paths.some((path) => ending.test(path))).map(
      ([name]) => name,
    ),
  )
  if (manifest !== null) languages.add('javascript')
  const text = [...files.values(), ...(manifest?.dependencies ?? [])].join('\n')
  const candidates = Object.entries(FRAMEWORKS).filter(([, { language }]) =>
    languages.has(language === 'typescript' ? 'javascript' : language),
  )
  const hits = candidates.map(([name]) => ({ name, count: occurrences(text, name) }))
  const found = hits.filter(({ count }) => count > 0)
  return found
    .sort((one, other) => rank(other) - rank(one))
    .slice(0, SHOWN_MAX)
    .map(({ name }) => name)
}

/** What other frameworks stand on is meant only where nothing else is. */
function rank({ name, count }: { readonly name: string; readonly count: number }): number {
  return name === 'node' ? 0 : ['nest', 'next'].includes(name) ? 1e9 + count : count
}

function occurrences(text: string, name: string): number {
  const mark = MARKS[name] ?? new RegExp(`(?<![\\w-])${name}(?![\\w-])`, 'i')
  return [...text.matchAll(new RegExp(mark.source, `g${mark.flags.replace('g', '')}`))].length
}

const COMMANDS: Readonly<Record<string, string>> = {
  python: "pip install 'pyjwt[crypto]'",
  ruby: 'bundle add jwt',
  php: 'composer require guzzlehttp/guzzle',
}

/** For a person to run. Ours alone: a model that was talked into something proposes none. */
export function commandsFor(
  framework: string,
  { manifest, files }: SentProject,
  sdkUrl: string,
): string[] {
  const language = FRAMEWORKS[framework]?.language ?? ''
  if (!/^(?:java|type)script$/.test(language)) {
    const command = COMMANDS[language]
    return command === undefined ? [] : [command]
  }
  const has = (name: string) => [...files.keys()].some((path) => path.endsWith(name))
  const manager = /^(?:npm|pnpm|yarn|bun)(?=@)/.exec(manifest?.packageManager ?? '')?.[0]
  const isPnpm = manager === 'pnpm' || has('pnpm-workspace.yaml')
  if (isPnpm) return [`pnpm add ${sdkUrl}`]
  return [
    manager === 'yarn' || manager === 'bun' ? `${manager} add ${sdkUrl}` : `npm install ${sdkUrl}`,
  ]
}
