/** Who changed what: written by every change itself (`change.audit`), read here. */
import { setImmediate as breathe } from 'node:timers/promises'
import { LIMITS } from '../../shared/limits.ts'
import { decodeCursor, encodeCursor, toPage, type Page, type PageRequest } from '../store/page.ts'
import {
  auditBefore,
  auditOfPerson,
  deleteAuditBefore,
  firstAuditFrom,
  type AuditFilter,
  type AuditRow,
} from '../store/queries/audit.ts'
import { usersBeginning } from '../store/queries/users.ts'
import { pruneWith } from '../store/statements.ts'
import type { Actor, Store } from '../store/store.ts'

/** An entry may hold long lists: others have their turn between so many. */
const READ_AT_ONCE = 20

const PEOPLE_FOUND_MAX = 50

/** What is left out is not asked for. */
export interface AuditSearch extends AuditFilter {
  /** Part of a name, or an id. */
  readonly actor?: string | undefined
  readonly target?: string | undefined
  readonly action?: string | undefined
  readonly fromMs?: number | undefined
  /** Up to before. */
  readonly toMs?: number | undefined
  /** Whose users are found by their names as well. */
  readonly ofUsers?: string | undefined
}

interface AuditPage extends Page<AuditRow> {
  /** As many as it has looked at. */
  readonly looked: number
}

export type AuditTrail = ReturnType<typeof createAuditTrail>

export function createAuditTrail({ store }: { store: Store }) {
  /** What is newer than all there is begins behind the end. */
  const placeOf = async (atMs: number) =>
    (await firstAuditFrom(store.read, atMs)) ?? Number.MAX_SAFE_INTEGER

  async function meant({ actor, target, action, ofUsers }: AuditSearch) {
    const idsOf = async (text: string | undefined) =>
      text === undefined || ofUsers === undefined
        ? []
        : (await usersBeginning(store.read, ofUsers, text.toLowerCase(), PEOPLE_FOUND_MAX)).map(
            ({ userId }) => userId,
          )
    const [actors, targets] = [new Set(await idsOf(actor)), new Set(await idsOf(target))]
    const has = (text: string, part: string) => text.toLowerCase().includes(part.toLowerCase())
    return (row: AuditRow): boolean => {
      if (action !== undefined && row.action !== action) return false
      const isBy =
        actor === undefined ||
        has(row.actor, actor) ||
        row.actorId === actor ||
        actors.has(row.actor)
      const isAbout = () =>
        target === undefined ||
        targets.has(row.userId ?? '') ||
        has(row.tenantId ?? '', target) ||
        has(JSON.stringify(row.content).slice(0, LIMITS.auditCharactersSearched), target)
      return isBy && isAbout()
    }
  }

  return {
    async list(page: PageRequest, filter: AuditFilter = {}): Promise<Page<AuditRow>> {
      const [before] = decodeCursor(page.cursor, 'number') ?? []
      const read = (from: number | undefined, limit: number) =>
        auditBefore(store.read, filter, from, limit)
      const rows = await readInParts(read, before, page.limit + 1)
      return toPage(rows, page.limit, (entry) => [entry.sequence])
    },

    /**
     * Newest first. Who and what stand in texts, which have no index; so a page looks through a
     * bounded number, and the next one goes on where it stopped.
     */
    async search(page: PageRequest, wish: AuditSearch): Promise<AuditPage> {
      const isMeant = await meant(wish)
      const [cursor] = decodeCursor(page.cursor, 'number') ?? []
      let before = cursor ?? (wish.toMs === undefined ? undefined : await placeOf(wish.toMs))
      const first = wish.fromMs === undefined ? 0 : await placeOf(wish.fromMs)
      const items: AuditRow[] = []
      for (let looked = 0; looked < LIMITS.auditLookedThroughMax;) {
        if (looked > 0) await breathe()
        const rows = await auditBefore(store.read, wish, before, READ_AT_ONCE)
        for (const row of rows) {
          if (row.sequence < first) return { items, next: null, looked }
          if (items.length === page.limit)
            return { items, next: encodeCursor([before ?? row.sequence]), looked }
          before = row.sequence
          looked++
          if (isMeant(row)) items.push(row)
        }
        if (rows.length < READ_AT_ONCE) return { items, next: null, looked }
        if (looked >= LIMITS.auditLookedThroughMax && before !== undefined)
          return { items, next: encodeCursor([before]), looked }
      }
      return { items, next: null, looked: 0 }
    },

    /** Of a person of the console: what was done about them, and by them. The newest first. */
    async ofPerson(userId: string): Promise<AuditRow[]> {
      const most = LIMITS.personAuditListedMax
      const read = (before: number | undefined, limit: number) =>
        auditOfPerson(store.read, userId, before, limit)
      return readInParts(read, undefined, most)
    },

    /** Before a file of many is sent: who took it, and what was asked for. Of no tenant: of all. */
    async exported(
      actor: Actor,
      what: 'users' | 'devices' | 'audit',
      asked: Readonly<Record<string, unknown>>,
      tenantId?: string,
    ): Promise<void> {
      const content = Object.fromEntries(
        Object.entries(asked).filter(([, value]) => value !== undefined),
      )
      const entry = {
        action: `${what}.exported`,
        content,
        ...(tenantId !== undefined && { tenantId }),
      }
      await store.change((change) => change.audit(actor, entry))
    },

    prune: pruneWith(store, deleteAuditBefore, LIMITS.auditKeptMs),
  }
}

async function readInParts(
  read: (before: number | undefined, limit: number) => Promise<AuditRow[]>,
  from: number | undefined,
  most: number,
): Promise<AuditRow[]> {
  const rows: AuditRow[] = []
  let before = from
  for (let asked = 0; rows.length === asked && asked < most;) {
    if (asked > 0) await breathe()
    asked = Math.min(asked + READ_AT_ONCE, most)
    rows.push(...(await read(before, asked - rows.length)))
    before = rows.at(-1)?.sequence
  }
  return rows
}
