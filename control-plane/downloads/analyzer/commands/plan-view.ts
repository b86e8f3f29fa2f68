/** What a plan does, for people: shortly, and with every line of it. */
import type { FileEdit, ManualStep, Plan } from '../plan.ts'
import { diffOf } from '../terminal/diff.ts'
import { plainText, visibleText, wrapUnder } from '../../command-line/words.ts'
import type { Task } from './command.ts'

const CODE_LINES_MAX = 60

export function planInShort(task: Task, plan: Plan): string[] {
  const { columns, paint } = task.terminal
  const line = (verb: string, place: string, text: string) =>
    wrapUnder(`  ${verb} ${place}  `, ' '.repeat(10), plainText(text), columns)
  const edits = plan.edits.map(({ path, before, why }) => {
    const verb = before === null ? 'create' : 'change'
    return line(`${paint('green', verb)} `, visibleText(path), why)
  })
  const manual = plan.manual.map((step) =>
    line(paint('yellow', 'manual step'), placeOf(step), step.text),
  )
  return [...edits, ...manual]
}

export function diffsOf(
  task: Task,
  edits: readonly FileEdit[],
): { readonly text: string; readonly isCut: boolean } {
  const wishes = { paint: task.terminal.paint, isWhole: task.given.flags.has('full') }
  const diffs = edits.map((edit) => diffOf(edit, wishes))
  return {
    text: diffs.map(({ text }) => text).join('\n\n'),
    isCut: diffs.some(({ isCut }) => isCut),
  }
}

/** What a person has to do: the place, and the code to put there. */
export function manualSteps(task: Task, { manual }: Plan): string[] {
  const { columns, paint } = task.terminal
  return manual.flatMap((step) => [
    '',
    `${paint('yellow', 'Manual step:')} ${placeOf(step)}`,
    wrapUnder('  ', '  ', plainText(step.text), columns),
    ...(step.code === null ? [] : codeLines(step.code, task)),
  ])
}

function codeLines(code: string, task: Task): string[] {
  const lines = code.trimEnd().split(/\r?\n/)
  const max = task.given.flags.has('full') ? Infinity : CODE_LINES_MAX
  const shown = lines.slice(0, max).map((line) => `    ${visibleText(line)}`)
  const more = lines.length - shown.length
  return ['', ...shown, ...(more > 0 ? [`    … ${more} more lines (--full shows them)`] : [])]
}

export function notesOf(task: Task, plan: Plan): string[] {
  return plan.notes.map((note) => wrapUnder('  - ', '    ', plainText(note), task.terminal.columns))
}

function placeOf({ path, line }: ManualStep): string {
  return line === null ? visibleText(path) : `${visibleText(path)}:${line}`
}

/** For programs: whole texts stay out, as the files are there; diffs say what changes. */
export function planFields(plan: Plan) {
  const plain = (style: unknown, text: string) => text
  return {
    framework: plan.framework,
    source: plan.source.kind,
    guide_id: plan.source.kind === 'guide' ? plan.source.guideId : null,
    edits: plan.edits.map((edit) => {
      const { text, added, removed } = diffOf(edit, { paint: plain, isWhole: true })
      const action = edit.before === null ? 'create' : 'modify'
      return { path: edit.path, action, why: edit.why, added, removed, diff: text }
    }),
    manual: plan.manual,
    commands: plan.commands,
    notes: plan.notes,
  }
}
