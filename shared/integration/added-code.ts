/**
 * What the code of a model's guide may be. The rules of paths and texts hold for every edit; these
 * hold on top of them where nobody of ours has written it. A text in a file can talk a model into
 * anything, and the developer who sees a diff of fifty lines may look at forty:
 *
 * - An edit adds. All that was code stays code, in its order: nothing is taken away, or commented out.
 * - What is added has no reach that an integration needs not: other addresses, processes, code made
 *   of text, files, other environment variables. Where the contract's own snippet does such a thing
 *   (Python fetches keys by urllib), the same words are allowed.
 *
 * Words are looked at, not meaning: who writes against these rules on purpose finds a way around
 * some of them. They stop what models are talked into today, and make the rest stand out in a diff.
 */
import { isWithin, modulesOf, reachesOf } from './added-reach.ts'
import { codeTokens } from './code-tokens.ts'

interface AddedCodeRules {
  readonly baseUrl: string
  /** Code of the contract for the framework of the guide. */
  readonly snippet: string
}

interface CodeChange {
  readonly path: string
  readonly before: string | null
  readonly after: string
}

/** To be read behind the path. */
export function addedCodeProblem(change: CodeChange, rules: AddedCodeRules): string | null {
  const { path, before, after } = change
  if (before === null && LOADED_BY_TOOLS.test(path))
    return 'may not be created: it is loaded by a tool as soon as it is there'
  const lost = before === null ? null : lostToken(codeTokens(before, path), codeTokens(after, path))
  if (lost !== null)
    return `may only be added to: ${JSON.stringify(lost.slice(0, 80))} is gone, or no longer code`
  return reachProblem(path, before ?? '', after, rules)
}

const LOADED_BY_TOOLS = /(?:^|\/)(?:[\w-]+\.config|instrumentation(?:-client)?)\.[cm]?[jt]s$/i

/** The first token of `before` that is not in `after` behind the ones in front of it. */
function lostToken(before: readonly string[], after: readonly string[]): string | null {
  let at = 0
  for (const token of before) {
    while (at < after.length && after[at] !== token) at++
    if (at++ >= after.length) return token
  }
  return null
}

function reachProblem(
  path: string,
  before: string,
  after: string,
  { baseUrl, snippet }: AddedCodeRules,
) {
  const isKnown = (pattern: RegExp) => {
    const words = new Set([...snippet.matchAll(pattern)].map(([word]) => word))
    return (word: string) => words.has(word)
  }
  const isSnippets = isKnown(ADDRESSES)
  const foreign = added(before, after, ADDRESSES).find(
    (address) => !isOwn(address, baseUrl) && !isSnippets(address),
  )
  if (foreign !== undefined)
    return `would bring another address into the code: ${JSON.stringify(foreign.slice(0, 100))}`
  for (const { what, pattern, files } of REACHES) {
    if (files?.test(path) === false) continue
    const isTheSnippets = isKnown(pattern)
    const word = added(before, after, pattern).find((word) => !isTheSnippets(word))
    if (word !== undefined)
      return `would ${what}, which no integration needs: ${JSON.stringify(word.slice(0, 80))}`
  }
  const reach = more(reachesOf(before, path), reachesOf(after, path)).find(
    (one) => !reachesOf(snippet, path).includes(one),
  )
  if (reach !== undefined)
    return `would reach further than an integration needs to: ${JSON.stringify(reach.slice(0, 80))}`
  const known = new Set(['service-node', ...modulesOf(before, path), ...modulesOf(snippet, path)])
  const module = modulesOf(after, path).find((name) => !known.has(name) && !isWithin(name, path))
  if (module !== undefined)
    return `would import what neither this file nor the contract does: ${JSON.stringify(module.slice(0, 80))}`
  return null
}

/** What is in `after` more often than in `before`. */
function added(before: string, after: string, pattern: RegExp): string[] {
  const wordsOf = (text: string) => [...text.matchAll(pattern)].map(([word]) => word)
  return more(wordsOf(before), wordsOf(after))
}

function more(before: readonly string[], after: readonly string[]): string[] {
  const left = new Map<string, number>()
  for (const word of before) left.set(word, (left.get(word) ?? 0) + 1)
  return after.flatMap((word) => {
    const count = left.get(word) ?? 0
    left.set(word, count - 1)
    return count > 0 ? [] : [word]
  })
}

const ADDRESSES =
  /\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s"'`<>)\]}]*|(?<=["'`])\/\/[\w.-]+\.\w[^\s"'`]*|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])|\b(?:javascript|data):[^\s"'`]*/gi

function isOwn(address: string, baseUrl: string): boolean {
  if (/^(?:127(?:\.\d{1,3}){3}|0\.0\.0\.0)$/.test(address)) return true
  if (!URL.canParse(address) || !/^https?:/i.test(address)) return false
  const { origin, hostname } = new URL(address)
  const isHere = hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]'
  return isHere || origin === new URL(baseUrl).origin
}

const ENVIRONMENT_ALLOWED = String.raw`(?:SERVICE_\w+|PORT|HOST|NODE_ENV)\b`

interface Reach {
  /** Completes «would …». */
  readonly what: string
  readonly pattern: RegExp
  /** Where it means that; everywhere, if nothing is said. */
  readonly files?: RegExp
}

const REACHES: readonly Reach[] = [
  {
    what: 'switch code off',
    pattern:
      /\bif\s*\(\s*(?:false|0|null|undefined|!1|!true)\s*\)|\bif\s+(?:False|0|None)\s*:|\b(?:false|0|null)\s*&&|\btrue\s*\|\|/g,
  },
  { what: 'start other programs', pattern: /`[^`]*`/g, files: /\.(?:rb|ru|erb|php)$/i },
  {
    what: 'start other programs',
    pattern:
      /child_process|\bexec(?:Sync|File|FileSync)?\s*\(|\bspawn(?:Sync)?\s*\(|\bfork\s*\(|\bsubprocess\b|\bos\s*\.\s*(?:system|popen|exec\w*|spawn\w*)|\bpopen\d?\b|shell_exec|passthru|proc_open|pcntl_|getRuntime|ProcessBuilder|Process\s*\.\s*Start|"os\/exec"|\bsyscall\b|\bOpen3\b|\bsystem\s*\(|%x[{([|]|worker_threads|\bcluster\b/gi,
  },
  {
    what: 'run text as code',
    pattern:
      /\beval\b|\bFunction\s*\(|\bnew\s+Function\b|\bvm\b\s*[.'"]|runIn(?:New|This)?Context|importScripts|\b(?:instance|class|module)_eval\b|create_function|unserialize|\bpickle\b|\bmarshal\b|__import__|\bimportlib\b|\bcompile\s*\(|forName\s*\(|ScriptEngine|Assembly\s*\.\s*Load|\bplugin\.Open|\bunsafe\b|\batob\s*\(|fromCharCode|fromCodePoint|base64_decode|b64decode|decode64|process\s*\.\s*(?:binding|mainModule|dlopen|_linkedBinding)|createRequire|\bconstructor\s*\[|\[\s*["']constructor["']\s*\]|globalThis\s*\[|Reflect\s*\.|["'](?:base64|hex)["']|(?:\\x[0-9a-f]{2}){4,}|(?:\\u\{?00[0-9a-f]{2}\}?){4,}/gi,
  },
  {
    // the name has to be there to be read
    what: 'load a module whose name is made up as it runs',
    pattern:
      /\brequire[ \t]*\((?!\s*["'][\w@./-]+["']\s*\))[^)\n]+|\bimport[ \t]*\((?!\s*["'][\w@./-]+["']\s*\))[^)\n]+/g,
  },
  {
    what: 'speak to the network by itself',
    pattern:
      /\bfetch\s*\(|XMLHttpRequest|sendBeacon|EventSource|new\s+WebSocket\b|["'](?:node:)?(?:net|dgram|dns|tls|https?|http2|inspector)(?:\/promises)?["']|["'](?:axios|got|node-fetch|request|superagent|undici|ws|ky|needle|phin)["']|\burllib\d?\b|\brequests\s*\.|\bhttpx\b|\baiohttp\b|\bsocket\s*\.\s*\w+|\bhttp\.client\b|\bsmtplib\b|\bftplib\b|Net::HTTP|\bopen-uri\b|URI\s*\.\s*open|HTTParty|\bFaraday\b|TCPSocket|\bcurl_\w+|fsockopen|stream_socket_client|file_get_contents|\bGuzzle\w*|HttpURLConnection|RestTemplate|WebClient|HttpClient|\bjava\.net\.\w+|System\.Net\b|\bnet\.Dial\w*|\bhttp\.(?:Get|Post|PostForm|NewRequest\w*|Client)\b|\bmail\s*\(/g,
  },
  {
    what: 'read or write files',
    pattern:
      /["'](?:node:)?fs(?:\/promises)?["']|\bfs\s*\.\s*\w+|(?:write|append|unlink|copy|rename)File\w*|create(?:Read|Write)Stream|\brmSync\b|\bchmod\w*\b|\bopen\s*\(|\bFile\s*\.\s*(?:write|open|delete|read\w*)|\bshutil\b|\bos\s*\.\s*(?:remove|unlink|rename|walk|listdir)|file_put_contents|\bfopen\s*\(|Files\s*\.\s*(?:write\w*|delete\w*|copy|read\w*)|File(?:Output|Input)Stream|FileWriter|File\s*\.\s*(?:Write|Append|Delete|Read)\w*|\bos\.(?:WriteFile|Create|Remove\w*|OpenFile|ReadFile)\b|\bioutil\b/g,
  },
  {
    what: 'read settings that are not its own',
    pattern: new RegExp(
      [
        String.raw`process\s*\.\s*env(?!\.${ENVIRONMENT_ALLOWED}|\[["']${ENVIRONMENT_ALLOWED}["'])`,
        String.raw`process\s*\[|\bprocess\s*\.\s*(?:argv|report|execPath)|\benv\s*\}\s*=\s*process|["'](?:node:)?process["']|import\.meta\.env(?!\.${ENVIRONMENT_ALLOWED})`,
        String.raw`os\s*\.\s*environ(?!(?:\.get\(|\[)["']${ENVIRONMENT_ALLOWED}["'])`,
        String.raw`\bgetenv\s*\((?!["']${ENVIRONMENT_ALLOWED}["'])`,
        String.raw`\bGetenv\s*\((?!"${ENVIRONMENT_ALLOWED}")|\bos\.Environ\b|\bLookupEnv\s*\((?!"${ENVIRONMENT_ALLOWED}")`,
        String.raw`\bENV\b(?!(?:\.fetch\(|\[)["']${ENVIRONMENT_ALLOWED}["'])`,
        String.raw`\$_(?:ENV|SERVER)\b(?!\[["']${ENVIRONMENT_ALLOWED}["'])|(?<![\w.])env\s*\((?!["']${ENVIRONMENT_ALLOWED}["'])`,
        String.raw`GetEnvironmentVariables?\s*\((?!"${ENVIRONMENT_ALLOWED}")`,
        String.raw`SERVICE_(?:MASTER|OPERATOR|FLEET|AI|ANALYZER)_KEY`,
      ].join('|'),
      'g',
    ),
  },
  {
    what: 'weaken a check that is there to protect',
    pattern:
      /rejectUnauthorized|NODE_TLS_REJECT_UNAUTHORIZED|InsecureSkipVerify|verify_signature|\bverify\s*=\s*False|csrf_exempt|csrf\(\)\.disable|permitAll|AllowAnonymous|skip_(?:before|forgery|around)_\w+|["']none["']|\bignoreExpiration\b|unsafe-(?:inline|eval)|dangerouslySetInnerHTML|Access-Control-Allow-Origin/gi,
  },
]
