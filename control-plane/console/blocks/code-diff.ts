/** What an edit does to a file, line by line. Code of strangers: what is not seen is written out. */
import { structuredPatch } from 'diff'
import { html } from 'hono/html'
import { visibleText } from '../../../shared/integration/text-rules.ts'
import type { Html } from '../../pages/html.ts'

export interface CodeEdit {
  readonly path: string
  /** null: the file is new. */
  readonly before: string | null
  readonly after: string
}

interface CodeLine {
  readonly sign: '+' | '-' | ' '
  readonly text: string
}

interface CodeLines {
  readonly lines: readonly CodeLine[]
  /** How many there are besides. */
  readonly more: number
}

const LINE_CHARACTERS_MAX = 400
const CONTEXT_LINES = 3
/** Beyond, two texts are not compared, but shown one after the other: looking would take long. */
const DIFFERENCES_MAX = 200
const COMPARED_CHARACTERS_MAX = 20_000

/** Pure. Never more than `linesMax`, whatever somebody has stored. */
export function codeLines({ before, after }: CodeEdit, linesMax: number): CodeLines {
  const lines = compared(before ?? '', after)
  return {
    lines: lines.slice(0, linesMax).map(({ sign, text }) => ({ sign, text: shown(text) })),
    more: Math.max(0, lines.length - linesMax),
  }
}

function compared(before: string, after: string): CodeLine[] {
  const all = [...signed('-', before), ...signed('+', after)]
  if (before.length + after.length > COMPARED_CHARACTERS_MAX) return all
  const patch = structuredPatch('', '', before, after, '', '', {
    context: CONTEXT_LINES,
    maxEditLength: DIFFERENCES_MAX,
    stripTrailingCr: true,
  })
  if (patch === undefined) return all
  return patch.hunks
    .flatMap(({ lines }) => lines)
    .filter((line) => !line.startsWith('\\')) // «No newline at end of file»
    .map((line) => ({ sign: line.charAt(0) as CodeLine['sign'], text: line.slice(1) }))
}

function signed(sign: CodeLine['sign'], text: string): CodeLine[] {
  if (text === '') return []
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => ({ sign, text: line }))
}

function shown(line: string): string {
  const text = visibleText(line.replace(/\r$/, ''))
  const more = text.length - LINE_CHARACTERS_MAX
  return more <= 0 ? text : `${text.slice(0, LINE_CHARACTERS_MAX)}… ${more} more characters`
}

/** Each line says for itself what it is, not by its colour alone. */
export function codeDiff(edit: CodeEdit, { lines, more }: CodeLines): Html {
  const rows = lines.map(({ sign, text }) =>
    sign === '+'
      ? html`<ins><span class="unseen">added: </span>${text}</ins>`
      : sign === '-'
        ? html`<del><span class="unseen">removed: </span>${text}</del>`
        : html`<span class="same">${text}</span>`,
  )
  return html`<pre class="lines" tabindex="0" role="group" aria-label="Changes of ${edit.path}"><code>${rows}</code></pre>
    ${more === 0 ? '' : html`<p class="hint">${more} more ${more === 1 ? 'line' : 'lines'}; <code>service-analyzer apply --dry-run --full</code> shows all.</p>`}`
}
