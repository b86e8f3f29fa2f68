/** The guide that is stored for a tenant: who wrote it, what it would change, what is left to do. */
import { html } from 'hono/html'
import { visibleText } from '../../../../shared/integration/text-rules.ts'
import type { GuideEdit } from '../../../../shared/integration/guide.ts'
import type { StoredGuide } from '../../../analysis/guides.ts'
import { codeDiff, codeLines, type CodeEdit } from '../../blocks/code-diff.ts'
import { emptyState } from '../../blocks/table.ts'
import { badge, copyable, facts, moment } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'

const LINES_PER_EDIT_MAX = 200
const LINES_MAX = 1000

export function guideShown(guide: StoredGuide | undefined): Html {
  if (guide === undefined)
    return emptyState(
      'No guide yet',
      html`<code>service-analyzer analyze</code> usually plans all edits itself. If it can’t,
        <code>service-analyzer analyze --use-ai</code> asks an AI model for a guide, where the operator
        has set one up. You can review the guide here before anything changes.`,
    )
  const { summary, framework, model, created_at: createdAt, edits, warnings } = guide
  return html`${facts([
    ['Model', visibleText(model)],
    ['Framework', visibleText(framework)],
    ['Created', moment(Date.parse(createdAt))],
    ['Edits', edits.length],
  ])}
    <p class="said">${visibleText(summary)}</p>
    ${remarks('Warnings', warnings)} ${edits.length === 0 ? html`<p>No file changes.</p>` : editList(edits)}
    ${commandList(guide.commands)} ${remarks('Notes', guide.notes)}
    <p class="hint">
      Nothing has been applied yet. <code>service-analyzer apply</code> shows these changes again, checks
      them against your current files and asks before writing.
    </p>`
}

function editList(edits: readonly GuideEdit[]): Html {
  let room = LINES_MAX
  return html`${edits.map((given) => {
    const edit = toCodeEdit(given)
    const shown = codeLines(edit, Math.min(room, LINES_PER_EDIT_MAX))
    room -= shown.lines.length
    return html`<section class="edit">
      <h3>
        <code>${visibleText(edit.path)}</code>
        ${edit.before === null ? badge('New file', 'good') : badge('Changed')}
      </h3>
      ${given.why === '' ? '' : html`<p>${visibleText(given.why)}</p>`} ${codeDiff(edit, shown)}
    </section>`
  })}`
}

function toCodeEdit(edit: GuideEdit): CodeEdit {
  return edit.action === 'create'
    ? { path: edit.path, before: null, after: edit.content }
    : { path: edit.path, before: edit.find, after: edit.replace }
}

function commandList(commands: readonly string[]): Html | string {
  if (commands.length === 0) return ''
  return html`<h3>Run these commands</h3>
    ${commands.map((command, index) => copyable(visibleText(command), `Command ${index + 1} of the guide`))}`
}

function remarks(heading: string, texts: readonly string[]): Html | string {
  if (texts.length === 0) return ''
  return html`<h3>${heading}</h3>
    <ul class="effects">${texts.map((text) => html`<li>${visibleText(text)}</li>`)}</ul>`
}
