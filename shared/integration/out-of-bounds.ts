/**
 * What no edit touches, whoever proposes it: files that run by themselves when somebody clones,
 * installs, opens, commits or deploys, and files that say what is installed. A diff of them is
 * easily waved through, and no integration needs them: where one seems to, a person does it.
 *
 * The application's own code and its configuration (`next.config.js`, `vite.config.ts`) run too,
 * but only when the application does, as it did before; they stay within bounds. A Makefile, a
 * compose file or a shell script does not: people run those out of habit, with their own rights.
 */

/** Every other name with a dot in front is out: tools read them by themselves, new ones each year. */
const DOT_NAME_ALLOWED = /^\.(?:well-known|env(?:\.[\w-]+)*\.(?:example|sample|template|dist))$/

/** Of folders and files alike. Names come folded: no capitals, no compatibility characters. */
const ANYWHERE: readonly (readonly [why: string, names: RegExp])[] = [
  [
    'holds what a package manager put there',
    /^(?:node_modules|bower_components|jspm_packages|vendor|venv|virtualenv|site-packages|dist-packages)$/,
  ],
  ['runs at a commit', /^(?:git-?hooks|_darcs|cvs)$/],
]

/** Of the last name of a path. */
const FILES: readonly (readonly [why: string, names: RegExp])[] = [
  // a folder with HEAD, objects and refs is a repository to git, and its config names programs
  ['makes a folder a git repository', /^head$/],
  [
    'runs at a commit',
    /^(?:lefthook(?:-local)?|husky\.config|lint-staged\.config|simple-git-hooks|captainhook|grumphp|commitlint\.config|prek)\.[\w.]+$/,
  ],
  [
    'says what is installed and what runs then; a person changes it',
    /^(?:package\.(?:json5|ya?ml)|(?:pnpm-workspace|bunfig|bower|lerna|nx|turbo|rush|workspace|deno|jsr|import_map)\.(?:json[c5]?|ya?ml|toml)|pnpmfile\.[cm]?js|composer\.(?:json|phar)|auth\.json|pyproject\.toml|setup\.(?:py|cfg)|(?:[\w.-]*requirements[\w.-]*|constraints)\.(?:txt|in)|pipfile|poetry\.toml|uv\.toml|pip\.(?:conf|ini)|environment\.ya?ml|gemfile|gems\.rb|[\w.-]+\.gemspec|cargo\.toml|go\.(?:mod|work)|mix\.exs|podfile|pom\.xml|mvnw|gradlew|gradle[\w.-]*\.properties|[\w.-]+\.gradle(?:\.kts)?|libs\.versions\.toml|[\w.-]+\.(?:cs|fs|vb|msbuild)?proj|[\w.-]+\.slnx?|[\w.-]+\.(?:props|targets)|nuget\.config|packages\.config|global\.json|paket\.dependencies)$/,
  ],
  [
    'is written by a package manager',
    /^(?:[\w.-]+\.lockb?|bun\.lockb?|[\w.-]*-lock\.(?:json|ya?ml)|npm-shrinkwrap\.json|go\.(?:work\.)?sum|packages\.lock\.json|gems\.locked|cartfile\.resolved|paket\.lock)$/,
  ],
  [
    'runs in a pipeline or at a deployment',
    /^(?:jenkinsfile.*|.*\.gitlab-ci\.ya?ml|azure-pipelines.*|bitbucket-pipelines\.ya?ml|appveyor\.ya?ml|codefresh\.ya?ml|wercker\.ya?ml|buildspec.*\.ya?ml|cloudbuild.*\.(?:ya?ml|json)|appspec\.ya?ml|amplify\.ya?ml|renovate\.json5?|dagger\.json|earthfile|vercel\.json|now\.json|netlify\.toml|fly\.toml|render\.ya?ml|railway\.(?:json|toml)|nixpacks\.toml|app\.json|serverless\.[\w.]+|wrangler\.(?:toml|jsonc?)|procfile(?:\..*)?|skaffold\.ya?ml|tiltfile|vagrantfile)$/,
  ],
  [
    'runs with more rights than the application',
    /^(?:(?:.*\.)?dockerfile(?:\..*)?|containerfile|(?:docker-)?compose.*\.ya?ml|docker-bake\..*)$/,
  ],
  [
    'is run out of habit, by people and pipelines',
    /^(?:(?:gnu)?makefile(?:\..*)?|.*\.mk|cmakelists\.txt|justfile|taskfile\.ya?ml|rakefile|.*\.rake|gulpfile\..*|gruntfile\..*|jakefile.*|noxfile\.py|tox\.ini|build\.(?:rs|sbt|xml|zig))$/,
  ],
  [
    'is run by editors and shells that open the folder',
    /^(?:.*\.code-workspace|.*\.sublime-project|[tj]sconfig.*\.json|(?:eslint|prettier|stylelint)\.config\..*|mypy\.ini|pylintrc|phpstan\..*|psalm\.xml|rubocop\.ya?ml|mise(?:\..*)?\.toml|devbox\.json|.*\.nix|devenv\.ya?ml|build-wrapper.*)$/,
  ],
  // CVE-2025-54135: a file like these, written for a stranger, ran the stranger's program
  [
    'steers assistants that open the folder',
    /^(?:agents|claude|gemini|copilot-instructions|skill)(?:\..*)?\.md$|^mcp\.json$/,
  ],
  [
    'is loaded by every start of its language or server',
    /^(?:sitecustomize|usercustomize|conftest)\.py$|\.pth$|^(?:php\.ini|web\.config)$/,
  ],
  // npm.cmd beside a package.json is what a Windows shell runs as npm
  [
    'is a program, not code of the application',
    /\.(?:bat|cmd|com|exe|scr|pif|ps[dm]?1|ps1xml|vb[se]|jse|ws[fh]|msc|hta|lnk|url|desktop|reg|inf|dll|so|dylib|node|wasm|jar|class|py[cod]|sh|bash|zsh|fish|ksh|csh|command|applescript|scpt|workflow|app|msi|service|timer)$/,
  ],
]

/** Why nothing is written there; null where something may be. `names` are the folded segments. */
export function outOfBounds(names: readonly string[]): string | null {
  if (names.some((name) => name.startsWith('.') && !DOT_NAME_ALLOWED.test(name)))
    return 'has a name with a dot in front: tools act on such files by themselves'
  for (const [why, pattern] of ANYWHERE) if (names.some((name) => pattern.test(name))) return why
  const last = names.at(-1) ?? ''
  return FILES.find(([, pattern]) => pattern.test(last))?.[0] ?? null
}
