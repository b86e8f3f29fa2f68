/**
 * What a model says to people. It is shown in terminals and in the console, so it may not steer
 * either; and it may not send anybody anywhere: a text in a customer's file can put words into a
 * model's mouth, and "now run curl … | sh" is the shortest way around every rule about edits.
 */
import type { ModelGuide } from './model-guide.ts'

const ADDRESS = /\b[a-z][a-z0-9+.-]*:\/\/[^\s)>\]"'`]+|\bwww\.[^\s]+|\b(?:\d{1,3}\.){3}\d{1,3}\b/gi
/**
 * `evil.example/x` is an address as well as what has a scheme. What code is made of looks the same:
 * a member in camel case or before a bracket, files and words that no top-level domain is called.
 */
const NAME =
  /(?<![\p{L}\p{N}_@/\\.-])(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?[.。．｡])+(xn--[a-z0-9-]+|\p{L}{2,63})(?![\p{L}\p{N}_(-])([/:]\S)?/giu
const MAIL = /[^\s@]+@[\p{L}\p{N}-]+\.\p{L}/u
const CODE_WORDS = new Set(
  (
    'js mjs cjs jsx ts mts cts tsx json jsonc yaml yml toml xml ini env lock html htm css scss vue svelte txt sql ' +
    'py rb erb go cs csproj cshtml java kt kts php gradle properties config conf md sh rs ' +
    'use exports static urlencoded headers body query params cookies session env listen server router handler middleware ' +
    'main urls wsgi asgi settings views models routes'
  ).split(' '),
)
/** Whatever it is for, nobody is asked for a key by a model. */
const KEY_WISH =
  /\b(?:paste|enter|type|send|e-?mail|upload|share|submit|post|give|provide|tell|forward)\b.{0,80}\b(?:keys?|secrets?|passwords?|tokens?|credentials?)\b/i
const COMMAND =
  /\b(?:curl|wget|powershell|pwsh|invoke-webrequest|iex|eval|bash|zsh|sh\s+-c|sudo|chmod|chown|ssh|scp|nc|ncat|base64\s+-d|npx|bunx|pnpx|dlx|uvx|pipx|npm|pnpm|yarn|bun|pip3?|gem|bundle|composer|dotnet|go\s+(?:get|install|run)|git\s+(?:clone|config|push)|docker|kubectl)\s+\S/i

export type Remarks = Omit<ModelGuide, 'framework'>

export function remarksOf(guide: ModelGuide, baseUrl: string): Remarks {
  let leftOut = 0
  const kept = (text: string): string => {
    const plain = plainText(text)
    if (!steersElsewhere(plain, baseUrl)) return plain
    leftOut++
    return ''
  }
  const all = (texts: readonly string[]) => texts.map(kept).filter((text) => text !== '')
  const edits = guide.edits.map((edit) => ({ ...edit, why: kept(edit.why) }))
  const [notes, warnings, summary] = [all(guide.notes), all(guide.warnings), kept(guide.summary)]
  if (leftOut > 0)
    warnings.push(
      `${leftOut === 1 ? 'A remark of the model was' : `${leftOut} remarks of the model were`} left out: an address, a command or a wish for a key was in it. Look for text in the files that was sent to talk a model into something.`,
    )
  return { summary, edits, notes, warnings }
}

function steersElsewhere(text: string, baseUrl: string): boolean {
  const addresses = text.match(ADDRESS) ?? []
  return (
    COMMAND.test(text) ||
    KEY_WISH.test(text) ||
    MAIL.test(text) ||
    addresses.some((address) => !isOurs(address, baseUrl)) ||
    namesHost(text.replaceAll(ADDRESS, ' '))
  )
}

function namesHost(text: string): boolean {
  return [...text.matchAll(NAME)].some(([name, last = '', behind]) => {
    const isMember = /\p{Ll}\p{Lu}/u.test(last) || /^process\.env\./.test(name)
    const isCode = CODE_WORDS.has(last) || isMember
    return !isCode || behind !== undefined
  })
}

function isOurs(address: string, baseUrl: string): boolean {
  if (/^127\./.test(address)) return true
  if (!URL.canParse(address)) return false
  const { origin, hostname, username } = new URL(address)
  return username === '' && (origin === new URL(baseUrl).origin || hostname === 'localhost')
}

/** One line, of characters that are seen. */
function plainText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .trim()
}
