/** Folders that hold nobody's own code: packages, version control, builds, caches, environments. */

const ALWAYS: ReadonlySet<string> = new Set([
  // version control, and what this program keeps itself
  '.git',
  '.hg',
  '.svn',
  '.jj',
  '.bzr',
  'CVS',
  '.service',
  // packages of others
  'node_modules',
  'bower_components',
  'jspm_packages',
  'web_modules',
  '.yarn',
  '.pnpm-store',
  '.npm',
  'vendor',
  'site-packages',
  '.bundle',
  '.eggs',
  '.gem',
  '.m2',
  '.nuget',
  '.cargo',
  '.rustup',
  'Pods',
  // environments
  'venv',
  '.venv',
  'virtualenv',
  '.virtualenvs',
  '.direnv',
  '.pyenv',
  '.rbenv',
  '.nvm',
  '.asdf',
  '.conda',
  // what tools build and keep
  'dist',
  'build',
  'out',
  'tmp',
  'coverage',
  '.nyc_output',
  '.next',
  '.nuxt',
  '.output',
  '.svelte-kit',
  '.astro',
  '.angular',
  '.turbo',
  '.nx',
  '.cache',
  '.parcel-cache',
  '.vite',
  '.docusaurus',
  '.vercel',
  '.netlify',
  '.wrangler',
  '.serverless',
  '.aws-sam',
  '.terraform',
  'cdk.out',
  '__pycache__',
  '__pypackages__',
  '.tox',
  '.nox',
  '.mypy_cache',
  '.pytest_cache',
  '.ruff_cache',
  '.hypothesis',
  '.ipynb_checkpoints',
  '.gradle',
  '.kotlin',
  'DerivedData',
  // editors
  '.idea',
  '.vs',
  '.vscode',
  '.fleet',
])

/** Names that elsewhere are folders of code like any other: it takes this neighbour beside them. */
const BESIDE: Readonly<Record<string, RegExp>> = {
  bin: /\.(?:cs|fs|vb)proj$/i,
  obj: /\.(?:cs|fs|vb)proj$/i,
  target: /^(?:pom\.xml|build\.sbt|Cargo\.toml)$/,
}

/** `neighbours` are the files in the folder that `name` lies in. */
export function isLeftOut(name: string, neighbours: Iterable<string>): boolean {
  if (ALWAYS.has(name) || name.endsWith('.egg-info')) return true
  const mark = Object.hasOwn(BESIDE, name) ? BESIDE[name] : undefined
  return mark !== undefined && [...neighbours].some((neighbour) => mark.test(neighbour))
}

/** What a build makes lies in them, and may be all that there is of a package that was published. */
const BUILDS: ReadonlySet<string> = new Set(['dist', 'build', 'out'])
const OF_COMPILER = /^tsconfig(?:\.[\w-]+)?\.json$/
/** Where sources lie by custom; a package may leave others than code in them. */
export const SOURCE_FOLDERS = ['src', 'source', 'sources'] as const
export const IS_CODE = /\.(?:[cm]?[jt]sx?|coffee|vue|svelte)$/
export const IS_TYPESCRIPT = /(?<!\.d)\.[cm]?tsx?$/

/** Whether a package may be started from it, where nothing beside it tells what it was made of. */
export function mayBePublished(name: string, neighbours: readonly string[]): boolean {
  return BUILDS.has(name) && !neighbours.includes('.git')
}

/** A compiler's settings beside it: TypeScript anywhere else is what it was made of. */
export function isCompiled(neighbours: readonly string[]): boolean {
  return neighbours.some((neighbour) => OF_COMPILER.test(neighbour))
}

/** `"main": "dist/index.js"`, `"start": "node build/app"` */
export function isStarted(name: string, manifest: string): boolean {
  return new RegExp(`"(?:[^"\\n]*[ /])?${name.replace(/[^\w/-]/g, '\\$&')}/[^"\\n]+"`).test(
    manifest,
  )
}

/** A file that makes the folder it lies in one of those, whatever the folder is called. */
export const MARKS_ENVIRONMENT = 'pyvenv.cfg'
