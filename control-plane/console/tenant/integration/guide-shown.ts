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
      'No guide is stored',
      html`<code>service-analyzer analyze</code> plans the edits by itself. Where it cannot,
        <code>service-analyzer analyze --use-ai</code> has a model write a guide, if the operator
        has set one up; it is shown here before anything is changed.`,
    )
  const { summary, framework, model, created_at: createdAt, edits, warnings } = guide
  return html`${facts([
    ['Written by the model', visibleText(model)],
    ['For', visibleText(framework)],
    ['Written', moment(Date.parse(createdAt))],
    ['Edits', edits.length],
  ])}
    <p class="said">${visibleText(summary)}</p>
    ${remarks('Warnings', warnings)} ${edits.length === 0 ? html`<p>It changes no file.</p>` : editList(edits)}
    ${commandList(guide.commands)} ${remarks('Notes', guide.notes)}
    <p class="hint">
      Nothing of it has been done. <code>service-analyzer apply</code> shows it once more, judges it
      against your files as they are, and asks before it writes.
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
  return html`<h3>Commands for you to run</h3>
    ${commands.map((command, index) => copyable(visibleText(command), `Command ${index + 1} of the guide`))}`
}

function remarks(heading: string, texts: readonly string[]): Html | string {
  if (texts.length === 0) return ''
  return html`<h3>${heading}</h3>
    <ul class="effects">${texts.map((text) => html`<li>${visibleText(text)}</li>`)}</ul>`
}
