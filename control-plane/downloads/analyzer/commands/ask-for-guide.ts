/** `analyze --use-ai`: shows what would be sent, asks, sends it, and tells what came back. */
import type { AnalysisAnswer } from '../api.ts'
import { Problem } from '../../command-line/exit.ts'
import { selectFiles, type Selection } from '../files-to-send.ts'
import { plainText, visibleText, wrap, wrapUnder } from '../../command-line/words.ts'
import type { Outcome, Task } from './command.ts'
import { chooseApplication, type LookedAt } from './look-at.ts'

interface AskedGuide {
  readonly text: string
  readonly fields: Outcome['fields'] | null
}

export async function askForGuide(task: Task, looked: LookedAt): Promise<AskedGuide> {
  const { terminal, access, isAgreed } = task
  const application = await chooseApplication(task, looked)
  const selection = await selectFiles(looked.project, [application])
  if (selection.files.length === 0)
    throw new Problem('nothing_found', 'No file here is related to sign-in, so nothing was sent.')
  const api = await access.api()
  const { text: baseUrl } = access.baseUrl()
  task.show(listOf(task, selection, baseUrl))
  if (!isAgreed) {
    if (!terminal.isInteractive)
      throw new Problem(
        'confirmation_needed',
        'There is no terminal to ask for confirmation, so nothing was sent.',
        'To send without asking, once you have seen the list: --yes',
      )
    if (!(await terminal.confirm(`Send these files to ${baseUrl}?`)))
      throw new Problem('declined', 'Nothing was sent.')
  }
  const answer = await terminal.during(
    'An AI model is reading the project and writing a guide',
    () =>
      api.analyze({
        files: Object.fromEntries(selection.files.map(({ path, text }) => [path, text])),
        ...(selection.packageJson !== null && { package_json: selection.packageJson }),
      }),
  )
  if (answer === null) {
    task.warn(
      'This service has no AI model, so there is no guide; using the built-in rules instead.',
    )
    return { text: '', fields: null }
  }
  return { text: describe(task, answer), fields: { ...answer, sent: sentFields(selection) } }
}

function listOf(task: Task, { files, leftOut, packageJson }: Selection, baseUrl: string): string {
  const { columns, paint } = task.terminal
  const masked = files.reduce((sum, { maskedCount }) => sum + maskedCount, 0)
  const bytes = files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  return [
    wrap(
      `These files go to ${baseUrl}, and from there to the AI provider that its operator chose:`,
      columns,
    ),
    ...files.map(({ path, text, maskedCount }) => {
      const size = sizeOf(Buffer.byteLength(text)).padStart(9)
      const hidden = maskedCount === 0 ? '' : paint('yellow', `  ${maskedCount} masked`)
      return `${size}  ${visibleText(path)}${hidden}`
    }),
    ...(packageJson === null
      ? []
      : [
          `${sizeOf(JSON.stringify(packageJson).length).padStart(9)}  package.json, without its scripts`,
        ]),
    wrap(
      `${files.length} ${files.length === 1 ? 'file' : 'files'}, ${sizeOf(bytes)}; ${masked} ${masked === 1 ? 'secret is' : 'secrets are'} masked. Masking goes by names and patterns, so check for yourself.`,
      columns,
    ),
    ...(leftOut.length === 0
      ? []
      : [
          wrap(
            `${leftOut.length} more did not fit, including ${leftOut.slice(0, 3).map(visibleText).join(', ')}.`,
            columns,
          ),
        ]),
    '',
  ].join('\n')
}

function sentFields({ files, leftOut }: Selection) {
  return {
    files: files.map(({ path, text, maskedCount }) => ({
      path,
      bytes: Buffer.byteLength(text),
      masked: maskedCount,
    })),
    left_out: leftOut,
  }
}

function describe(
  task: Task,
  { summary, framework, edits, warnings, url }: AnalysisAnswer,
): string {
  const { columns, paint } = task.terminal
  return [
    `${paint('bold', 'Guide')} for ${framework}`,
    wrap(summary, columns),
    '',
    ...edits.map(({ path, action, why }) =>
      wrapUnder(
        `  ${paint('green', action)}  ${visibleText(path)}  `,
        ' '.repeat(10),
        plainText(why),
        columns,
      ),
    ),
    ...warnings.map((warning) => wrapUnder(`  ${paint('yellow', '!')} `, '    ', warning, columns)),
    ...(url === '' ? [] : ['', `Stored at ${url}`]),
  ].join('\n')
}

function sizeOf(bytes: number): string {
  return bytes < 1000 ? `${bytes} B` : `${(bytes / 1000).toFixed(1)} kB`
}
