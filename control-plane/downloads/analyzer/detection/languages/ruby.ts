/** Rails: config/application.rb names the application, whatever else a repository holds. */
import type { Project } from '../../project/project.ts'
import { under, upwards } from '../folders.ts'
import { byName, type Dependencies } from '../manifests/dependencies.ts'
import type { Language } from '../reader/language.ts'
import { managedBy, manifestsOf, type Part, type Parts } from '../reader/part.ts'
import type { Nesting } from '../reader/routes.ts'
import {
  hits,
  placeAt,
  sourceOf,
  stringAt,
  stringBehind,
  stringsBetween,
  type Hit,
  type Source,
} from '../source/source.ts'

const APPLICATION = {
  in: /^config\/application\.rb$/,
  code: /^[ \t]*class\s+[\w:]+\s*<\s*(?:::)?Rails::Application\b/m,
  confidence: 'sure',
} as const
const MODELS = /^app\/(?:models\/.*|controllers\/concerns\/authentication)\.rb$/
const PUMA = { in: /^config\/puma\.rb$/, code: /^[ \t]*port[ (]\s*/m } as const

export const RUBY: Language = {
  name: 'ruby',
  title: 'Ruby',
  files:
    /^(?:config\.ru|config\/.*\.rb|app\/(?:models\/.*|controllers\/concerns\/authentication)\.rb)$/,
  isAside: () => false,
  parts: readParts,
  frameworks: [
    {
      name: 'rails',
      title: 'Rails',
      packages: [/^rails$/, /^railties$/],
      detail: [
        'Rails is a dependency, and the code says that it is %.',
        'The code says that it is %.',
      ],
      made: [
        {
          ...APPLICATION,
          beside: /^[ \t]*config\.api_only\s*=\s*true\b/m,
          detail: 'a Rails application that is an API only',
        },
        { ...APPLICATION, detail: 'a Rails application' },
      ],
      entry: [
        {
          in: /^config\.ru$/,
          at: /^[ \t]*run\b/m,
          confidence: 'sure',
          detail: 'Every Rack server starts it by this file.',
        },
        { in: APPLICATION.in, confidence: 'likely', detail: 'Rails is started by it.' },
      ],
      mount: [
        {
          ...APPLICATION,
          value: 'Rails::Application',
          detail: 'The application is made here; initializers add middleware to it.',
        },
      ],
      routes: [
        {
          in: /^config\/routes(?:\.rb|\/)/,
          calls: /^[ \t]*(?:get|match|head|mount)\b[ (]\s*/m,
          path: pathAt,
          nested: [inBlocks],
        },
      ],
      port: [
        'deployment',
        // port 4000; port ENV.fetch("PORT") { 3000 }
        { ...PUMA, reads: /^(\d{2,5})\b/, confidence: 'sure', detail: 'Puma is told so.' },
        {
          ...PUMA,
          reads: /^[^\n]*?\b(\d{2,5})\b/,
          confidence: 'likely',
          detail: 'Puma is told so, where the environment says nothing.',
        },
      ],
      customaryPort: [3000, 'Rails listens there unless told otherwise.'],
      signIn: {
        packages: `devise devise-jwt devise_token_auth omniauth omniauth-google-oauth2
          omniauth_openid_connect omniauth-saml omniauth-github doorkeeper clearance sorcery authlogic
          rodauth-rails warden jwt knock openid_connect keycloak auth0`.split(/\s+/),
        code: [
          [
            /^[ \t]*has_secure_password\b/m,
            'has_secure_password',
            { in: MODELS, detail: 'A model keeps passwords.' },
          ],
          [
            /\bdef\s+(?:start_new_session_for|resume_session)\b/,
            'rails authentication',
            { in: MODELS, detail: "Rails' own generator made it." },
          ],
        ],
      },
      integrated: [
        { in: /^config\/(?:(?:initializers|environments)\/.*|environment)\.rb$/ },
        { in: APPLICATION.in },
      ],
    },
  ],
}

async function readParts(project: Project): Promise<Parts<Part>> {
  const parts: Part[] = []
  for await (const { folder } of manifestsOf(project, /(?:^|\/)config\/application\.rb$/)) {
    const gemfile = upwards(folder)
      .map((around) => under(around, 'Gemfile'))
      .find((path) => project.has(path))
    const text = gemfile === undefined ? null : await project.read(gemfile)
    parts.push({
      folder,
      dependencies: gemsIn(gemfile ?? '', text ?? ''),
      packageManager: gemfile ? managedBy('bundler', gemfile, 'A Gemfile is there.') : null,
    })
  }
  return { parts, remarks: [] }
}

const FOR_DEVELOPERS = /:(?:development|test|ci|lint|tools?)\b/

/** What a Gemfile asks for, and for which groups. */
function gemsIn(path: string, text: string): Dependencies {
  const source = sourceOf(path, text)
  const gems = hits(source, /^[ \t]*gem[ (]\s*(?=["'])/m).flatMap(({ index, end }) => {
    // options may go on behind a comma at the end of the line
    const [statement = ''] = /^[^\n]*(?:,\s*\n[^\n]*)*/.exec(source.code.slice(end)) ?? []
    const [name, ...more] = stringsBetween(source, end, end + statement.length)
    if (name === undefined) return []
    const version = more.find(({ value }) => /^[~><=!]*\s*\d/.test(value))?.value ?? null
    const isDev = /\bgroups?\b/.test(statement)
      ? FOR_DEVELOPERS.test(statement)
      : isInGroup(source, index)
    return [{ name: name.value, version, isDev, at: placeAt(source, name.index) }]
  })
  return byName(gems)
}

/** `group :development, :test do … end` */
function isInGroup({ code }: Source, index: number): boolean {
  const open: boolean[] = []
  for (const line of code.slice(0, index).split('\n')) {
    if (/\bdo\b\s*(?:\|[^|]*\|)?\s*$/.test(line) || /^\s*(?:if|unless|case)\b/.test(line))
      open.push(
        /^\s*group\b/.test(line) && FOR_DEVELOPERS.test(line) && !/:production\b/.test(line),
      )
    else if (/^\s*end\b/.test(line)) open.pop()
  }
  return open.includes(true)
}

/** `get 'up' => …`, `get :health`, `mount Health::Engine => '/health'` */
function pathAt(source: Source, { end }: Hit): string | null {
  const direct = stringAt(source, end)
  if (direct !== null) return direct.replace(/\(\.:format\)$/, '')
  const [, symbol] = /^:(\w+)/.exec(source.code.slice(end, end + 200)) ?? []
  return symbol ?? stringBehind(source, /^[^\n]*?(?:=>|\bat:)[ \t]*/, end)
}

/** What has a path that is not clear, such as `resources`, leaves all in it unclear. */
function inBlocks(...[, { source, index }]: Parameters<Nesting>): ReturnType<Nesting> {
  const open: (string | null)[] = []
  let offset = 0
  for (const line of source.code.slice(0, index).split('\n')) {
    if (/\bdo\b\s*(?:\|[^|]*\|)?\s*$/.test(line)) open.push(pathOfBlock(source, line, offset))
    else if (/^\s*(?:if|unless|case|begin|def)\b/.test(line)) open.push('')
    else if (/^\s*end\b/.test(line)) open.pop()
    offset += line.length + 1
  }
  const isKnown = !open.includes(null)
  return { path: isKnown ? open.join('/') : '', isKnown, above: null }
}

const WITHOUT_PATH =
  /^(?:Rails|constraints|authenticated?|unauthenticated|concern|defaults|with_options|devise_scope|draw)$/

function pathOfBlock(source: Source, line: string, offset: number): string | null {
  const [, word = '', symbol] = /^\s*(\w+)\b[ (]*(?::(\w+))?/.exec(line) ?? []
  if (WITHOUT_PATH.test(word)) return ''
  const strings = stringsBetween(source, offset, offset + line.length)
  const path = /\bpath:\s*/.exec(line)
  if (path !== null) return stringAt(source, offset + path.index + path[0].length)
  if (word === 'namespace') return symbol ?? strings[0]?.value ?? null
  if (word !== 'scope') return null
  if (symbol !== undefined) return symbol
  return /^\s*scope[ (]+["']/.test(line) ? (strings[0]?.value ?? null) : ''
}
