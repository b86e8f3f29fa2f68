import * as files from 'node:fs/promises'
import { readJournal, type FoundJournal } from '../journal/record.ts'
import { plainText, visibleText, wrap } from '../../command-line/words.ts'
import { addressesOf, type Facts } from '../api.ts'
import type { Command, Task } from './command.ts'
import { HELD_BACK, verificationOutcome } from './probe.ts'

export const status: Command = {
  name: 'status',
  summary: 'shows the protection, the last checks and what is applied here',
  help: ['Runs no new checks; “verify” does that.'],
  options: [],
  takesFolder: true,
  documented: {
    tenant: '{tenant_id, mode, status, protection, edge_urls, completed_at}',
    status: 'pass, fail or unknown: the result of the last checks',
    checks: 'a list of {check, status, detail, next_action, at, source}',
    held_back: HELD_BACK,
    applied: '{state, at, paths}, or null if nothing is applied in this folder',
  },
  async run(task) {
    const api = await task.access.api()
    const [facts, verification] = await task.terminal.during('Contacting the service', () =>
      Promise.all([api.facts(), api.status()]),
    )
    const root = await files.realpath(task.folder).catch(() => task.folder)
    const journal = await readJournal(root, files)
    const outcome = verificationOutcome(task, verification, {
      tenant: tenantFields(facts),
      applied: appliedFields(journal),
      protection: facts.protection,
    })
    const text = [...tenantLines(task, facts), ...journalLines(task, journal), '', outcome.text]
    const isLive = facts.protection === 'on' && outcome.fields['status'] === 'pass'
    return {
      ...outcome,
      text: text.join('\n'),
      next: isLive
        ? {
            text: 'All checks passed. To test one sign-in from end to end:',
            command: 'service-analyzer complete',
          }
        : outcome.next,
    }
  },
}

function tenantFields(facts: Facts) {
  const { tenant_id, mode, status, protection, edge_urls, integration_completed_at } = facts
  const completed_at = integration_completed_at
  return { tenant_id, mode, status, protection, edge_urls, completed_at }
}

function tenantLines(task: Task, facts: Facts): string[] {
  const { columns, paint } = task.terminal
  const { tenant_id, mode, status, protection, integration_completed_at: done } = facts
  const isOn = protection === 'on'
  return [
    wrap(`Tenant ${tenant_id}: ${status}, mode ${mode}`, columns),
    `Protection: ${paint(isOn ? 'green' : 'yellow', isOn ? 'on' : 'off (pass-through)')}`,
    ...addressesOf(facts).map((url) => `  ${plainText(url)}`),
    ...(done === null ? [] : [wrap(`Integration complete since ${done}`, columns)]),
  ]
}

function appliedFields(journal: FoundJournal) {
  if (journal.kind !== 'journal') return null
  const { state, written_at: at, files } = journal.journal
  return { state, at, paths: files.map(({ path }) => path) }
}

function journalLines(task: Task, journal: FoundJournal): string[] {
  const { columns, paint } = task.terminal
  if (journal.kind === 'problem') return [paint('yellow', wrap(plainText(journal.detail), columns))]
  if (journal.kind === 'none') return ['Applied here: nothing']
  const { state, written_at: at, files } = journal.journal
  if (state === 'writing')
    return [
      paint(
        'yellow',
        wrap(`Applied here: interrupted at ${at}. Run: ${task.line('undo')}`, columns),
      ),
    ]
  return [
    wrap(`Applied here at ${at}; ${task.line('undo')} reverts it:`, columns),
    ...files.map(({ path }) => `  ${visibleText(path)}`),
  ]
}
