/**
 * Takes secrets out of source code before anybody else reads it. Asked on the developer's machine
 * before files are sent, and by the service again before they go to a model. What is hidden leaves
 * `[hidden]`; lines stay where they are, and what is masked already stays as it is.
 *
 * It reads names and shapes, so it can miss a secret that looks like nothing. That is why whole
 * files of secrets are refused (`isPrivateFile`), and why people are shown what is sent.
 */
import {
  ASSIGNMENTS,
  CALLS,
  CONFIGURATION,
  CREDENTIALS,
  TOKENS,
  type Rule,
} from './secret-shapes.ts'
import { isRandomLooking } from './randomness.ts'

export const HIDDEN = '[hidden]'

interface Masked {
  readonly text: string
  /** Where something was hidden, by lines counted from 1, and what it was taken for. */
  readonly hidden: readonly { readonly line: number; readonly kind: string }[]
}

/** The path says whether a bare word after `=` is a value (settings) or an expression (code). */
export function maskSecrets(text: string, path: string): Masked {
  const hidden: { line: number; kind: string }[] = []
  let masked = hideKeyBlocks(text, hidden)
  const rules = [
    ...TOKENS,
    ...CREDENTIALS,
    ...CALLS,
    ...ASSIGNMENTS,
    ...(isCode(path) ? [] : CONFIGURATION),
  ]
  for (const rule of rules) masked = hideMatches(masked, rule, hidden)
  masked = hideRandom(masked, hidden)
  hidden.sort((one, other) => one.line - other.line)
  return { text: masked, hidden }
}

/** Files that hold secrets and nothing else of interest: neither read nor sent, by nobody. */
export function isPrivateFile(path: string): boolean {
  const name = (path.split(/[/\\]/).at(-1) ?? '').toLowerCase()
  if (/^\.?env(?:rc)?(?:[._~-]|$)/.test(name) && !/^env\.[cm]?[jt]sx?$/.test(name))
    return !/[._-](?:example|sample|template|dist)$/.test(name)
  // an old copy holds what the file held
  const bare = name.replace(/(?:~|\.(?:bak|old|orig|save|copy|swp|\d{1,3})|[-_](?:bak|old))+$/, '')
  if (/(?:^|[/\\])\.(?:docker|aws|azure|kube|ssh|gnupg)[/\\]/i.test(path)) return true
  return [name, bare].some((name) => PRIVATE_NAME.test(name) || PRIVATE_ENDING.test(name))
}

const PRIVATE_NAME =
  /^(?:id_(?:rsa|dsa|ecdsa|ed25519)(?:_.*)?|\.?netrc|_netrc|\.npmrc|\.yarnrc(?:\.yml)?|\.pypirc|\.pgpass|\.my\.cnf|\.htpasswd|\.git-credentials|\.dockercfg|\.envrc|credentials(?:\.(?:json|ya?ml|toml|csv|enc))?|secrets?\.(?:json|ya?ml|toml|rb|py|js|ts|ini|properties)|service[-_]?account.*\.json|client_secret.*\.json|master\.key|terraform\.tfstate.*|.*\.tfvars|kubeconfig|shadow|authorized_keys|known_hosts|wp-config(?:[-.]\w+)?\.php|(?:local_?settings|settings_?local)\.py|.*firebase-adminsdk.*\.json|(?:[\w-]*[-_])?keys?\.json|\.vault-token|credentials\.[\w.]*enc|\.s3cfg|\.boto|.*\.env\.(?:local|prod(?:uction)?|dev(?:elopment)?|test|staging))$/
const PRIVATE_ENDING =
  /\.(?:pem|key|p12|pfx|p8|jks|keystore|kdbx?|ppk|asc|gpg|pgp|der|ovpn|agekey|env|sqlite3?|db|dump|tfstate)$/

/** Where an unquoted word after `=` or `:` is an expression. */
function isCode(path: string): boolean {
  return /\.(?:[cm]?[jt]sx?|vue|svelte|astro|py|rb|ru|erb|php|java|kts?|groovy|gradle|scala|cs|cshtml|fs|vb|go|rs|ex|exs|swift|html?|css|scss)$/i.test(
    path,
  )
}

/**
 * From BEGIN to END, also where all of it is on one line. By searching, not by one expression: a
 * file full of BEGINs without an END must not cost its length squared.
 */
function hideKeyBlocks(text: string, hidden: { line: number; kind: string }[]): string {
  const begins = /-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----/g
  let result = ''
  let from = 0
  for (let begin = begins.exec(text); begin !== null; begin = begins.exec(text)) {
    const start = begin.index + begin[0].length
    const end = text.indexOf('-----END ', start)
    // a block that is cut off is a secret to where it is cut off
    const stop = end === -1 ? start + keyLength(text.slice(start)) : end
    result += text.slice(from, start) + blanked(text.slice(start, stop))
    hidden.push({ line: lineAt(text, start), kind: 'private key' })
    from = stop
    begins.lastIndex = stop
  }
  return result + text.slice(from)
}

function keyLength(rest: string): number {
  return /^(?:[A-Za-z0-9+/=:\s,-]|\\[nr])*/.exec(rest)?.[0].length ?? 0
}

function hideMatches(text: string, rule: Rule, hidden: { line: number; kind: string }[]): string {
  let result = ''
  let from = 0
  let line = 1 // counted on from match to match, as a file may be full of them
  let counted = 0
  for (const match of text.matchAll(rule.pattern)) {
    const [start, end] = match.indices?.groups?.['secret'] ?? match.indices?.[0] ?? [0, 0]
    const secret = text.slice(start, end)
    if (start < from || secret.includes(HIDDEN) || rule.isHarmless?.(secret) === true) continue
    result += text.slice(from, start) + blanked(secret)
    line += lineAt(text.slice(counted, start), Infinity) - 1
    counted = start
    hidden.push({ line, kind: rule.kind })
    from = end
  }
  return result + text.slice(from)
}

/** Words that no person has written, in quotes or after an equals sign. */
function hideRandom(text: string, hidden: { line: number; kind: string }[]): string {
  return text.replace(
    /(?<=["'`=:\s(,>]|^)[A-Za-z0-9+/_-]{20,4096}={0,2}(?=["'`\s;,)<&]|$)/gm,
    (word: string, at: number) => {
      if (!isRandomLooking(word) || isDigest(text, at)) return word
      hidden.push({ line: lineAt(text, at), kind: 'random-looking text' })
      return HIDDEN
    },
  )
}

/** `integrity="sha512-…"`, and the addresses of packages: published, and no secret. */
function isDigest(text: string, at: number): boolean {
  return /(?:sha(?:1|256|384|512)[-:=]|\bintegrity["']?\s*[:=]\s*["']?)$/i.test(
    text.slice(Math.max(0, at - 24), at),
  )
}

/** As many lines as before, so that what is said of a line stays true. */
function blanked(secret: string): string {
  return HIDDEN + secret.replace(/[^\r\n]+/g, '')
}

function lineAt(text: string, index: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1)) line++
  return line
}
