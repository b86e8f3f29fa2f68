/**
 * The ends of sessions that the control plane has yet to hear of, some in each file: what is new costs
 * no more than the file that it comes into, however many wait. Each file is written beside and renamed,
 * so a process that dies leaves all that was there before, and at worst some that were acknowledged,
 * which may be told twice.
 */
import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { EnforcementEvent } from '../../shared/fleet/snapshot.ts'
import type { FileName, SealedFiles } from './sealed-file.ts'
import { readEndings } from './stored-records.ts'

/** Without a number: of the version before, which had all of them in one. */
const NAME = /^endings(?:\.(?<number>\d{1,15}))?$/
const PER_FILE = 200

interface EndingsFile extends FileName {
  readonly number: number
  readonly events: readonly EnforcementEvent[]
  /** Why none of it could be read. */
  readonly damage?: string
}

export function listEndings(directory: string): (FileName & { readonly number: number })[] {
  const found = namesIn(directory).flatMap((name) => {
    const number = NAME.exec(name)?.groups?.['number']
    if (number === undefined && name !== 'endings') return []
    const path = join(directory, name)
    return [{ path, kind: 'endings' as const, owner: number ?? '', number: Number(number ?? 0) }]
  })
  return found.toSorted((a, b) => a.number - b.number)
}

/** What cannot be listed is told of where the other folders are. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

export function readEndingFiles(directory: string, files: SealedFiles): EndingsFile[] {
  return listEndings(directory).map((name) => {
    const read = readEndings(files.read(name.path, name.kind, name.owner))
    if (read.kind === 'read') return { ...name, events: read.record }
    return { ...name, events: [], ...(read.kind === 'damaged' && { damage: read.reason }) }
  })
}

export function createKeptEndings(directory: string, files: SealedFiles) {
  /** In the order in which they ended, as all that is told of. */
  let kept: readonly EndingsFile[] = []
  let wanted: readonly EnforcementEvent[] = []
  let isRenewalDue = false

  async function put(file: EndingsFile) {
    await files.replace(file.path, file.kind, file.owner, file.events)
    kept = [...kept.filter(({ number }) => number !== file.number), file]
  }

  /** None of it is awaited any more, or not all. */
  async function leave(file: EndingsFile, events: readonly EnforcementEvent[]) {
    if (events.length > 0) await files.replace(file.path, file.kind, file.owner, events)
    else await rm(file.path, { force: true })
    kept = kept.flatMap((one) =>
      one !== file ? [one] : events.length > 0 ? [{ ...one, events }] : [],
    )
  }

  async function add(more: readonly EnforcementEvent[]) {
    const last = kept.at(-1)
    const isOpen = last !== undefined && last.number > 0 && last.events.length < PER_FILE
    const room = isOpen ? PER_FILE - last.events.length : 0
    if (room > 0) await put({ ...last!, events: [...last!.events, ...more.slice(0, room)] })
    for (let at = room; at < more.length; at += PER_FILE) {
      const number = (kept.at(-1)?.number ?? 0) + 1
      const path = join(directory, `endings.${number}`)
      const events = more.slice(at, at + PER_FILE)
      await put({ path, kind: 'endings', owner: `${number}`, number, events })
    }
  }

  return {
    /** What was read at the start. */
    begin(found: readonly EndingsFile[]) {
      kept = found
      wanted = found.flatMap(({ events }) => events)
    },
    /** From now on these: some of before, in their order, and new ones behind them. */
    set(endings: readonly EnforcementEvent[]) {
      wanted = endings
    },
    /** What is there is to be sealed anew. */
    renew() {
      isRenewalDue = true
    },
    async write(): Promise<void> {
      const now = wanted
      let at = 0
      const left = kept.map((file) => ({
        file,
        events: file.events.filter((event) => event === now[at] && ++at > 0),
      }))
      for (const { file, events } of left)
        if (events.length < file.events.length || events.length === 0) await leave(file, events)
      if (at < now.length) await add(now.slice(at))
      if (!isRenewalDue) return
      for (const file of kept) await files.renew(file)
      isRenewalDue = false
    },
  }
}
