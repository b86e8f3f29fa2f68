/** What changes and statements have held, the largest of each kind. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { ChangedRows, RowsTold } from '../../../control-plane/store/engines/counted-rows.ts'

interface Largest extends ChangedRows {
  readonly during: string
}

export function countChanges() {
  const during = new AsyncLocalStorage<string>()
  const written = new Map<string, Largest>()
  const read = new Map<string, Largest>()
  const statements = new Map<string, { read: number; during: string }>()
  const times = new Map<string, { ms: number; max: number; n: number; during: string }>()
  const told: RowsTold = {
    change(rows) {
      const one = { ...rows, during: during.getStore() ?? '' }
      if (one.written > (written.get(one.by)?.written ?? -1)) written.set(one.by, one)
      if (one.read > (read.get(one.by)?.read ?? -1)) read.set(one.by, one)
    },
    statement({ text, read: count, ms }) {
      if (count > (statements.get(text)?.read ?? -1))
        statements.set(text, { read: count, during: during.getStore() ?? '' })
      const t = times.get(text) ?? { ms: 0, max: 0, n: 0, during: '' }
      times.set(text, { ms: t.ms + ms, max: Math.max(t.max, ms), n: t.n + 1, during: ms > t.max ? during.getStore() ?? '' : t.during })
    },
  }
  return {
    told,
    of: <T>(name: string, work: () => Promise<T>): Promise<T> => during.run(name, work),
    largest: () => ({
      slow: [...times].sort((a, b) => b[1].ms - a[1].ms).slice(0, 15).map(([s, o]) => `${o.ms | 0} ms in ${o.n}, max ${o.max | 0} [${o.during}] ${s.replace(/select .*? from/, 'select … from')}`),
      longest: [...times].sort((a, b) => b[1].max - a[1].max).slice(0, 25).map(([s, o]) => `max ${o.max | 0} of ${o.n} [${o.during}] ${s.replace(/select .*? from/, 'select … from')}`),
      written: [...written.values()].filter((one) => one.written > 250).sort((a, b) => b.written - a.written).map((o) => `${o.written} ${o.by} [${o.during}]`),
      read: [...read.values()].filter((one) => one.read > 500).sort((a, b) => b.read - a.read).map((o) => `${o.read} ${o.by} [${o.during}]`),
      statements: [...statements].filter(([, one]) => one.read > 500).sort((a, b) => b[1].read - a[1].read).map(([s, o]) => `${o.read} [${o.during}] ${s.replace(/^select .*? from/, 'select … from')}`),
    }),
  }
}
