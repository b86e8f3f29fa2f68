/** A text and what becomes of it, for tables of shapes. */
import t from 'tap'
import {
  mountInSource,
  type Mounting,
} from '../../../../../control-plane/downloads/analyzer/edits/mount-source.ts'
import { MOUNTED } from '../../../../../control-plane/downloads/analyzer/edits/mounted-frameworks.ts'
import type { KnownService } from '../../../../../shared/integration/snippets/defaults.ts'
import type { Wishes } from '../../../../../control-plane/downloads/analyzer/edits/wishes.ts'
import { wrapListeners } from '../../../../../control-plane/downloads/analyzer/edits/wrap-listener.ts'
import { parseSource } from '../../../../../control-plane/downloads/analyzer/syntax/parse.ts'

export interface Given {
  readonly framework?: keyof typeof MOUNTED | 'node'
  readonly path?: string
  readonly type?: 'module' | 'commonjs'
  readonly mode?: Wishes['mode']
  readonly service?: KnownService
}

const UNKNOWN: KnownService = { baseUrl: 'http://localhost:8080', tenantId: null }

export function mounted(text: string, given: Given = {}): Mounting {
  const {
    framework = 'express',
    path = 'app.js',
    type,
    mode = 'gateway',
    service = UNKNOWN,
  } = given
  const parsed = parseSource(path, text, type)
  if ('problem' in parsed) throw new Error(parsed.problem)
  const { source } = parsed
  if (framework === 'node') return wrapListeners(source, { mode, service, packageType: type })
  const isModule = path.endsWith('.mjs') || path.endsWith('.mts') || type === 'module'
  return mountInSource(source, {
    framework: MOUNTED[framework],
    mode,
    service,
    packageType: type,
    hasTopLevelAwait: isModule && source.modules === 'esm',
  })
}

/** The new text; or what is said instead, for a table to compare. */
export function after(text: string, given?: Given): string {
  const mounting = mounted(text, given)
  if (mounting.kind === 'edit') return mounting.after
  if (mounting.kind === 'there already') return 'there already'
  return mounting.shown.map(({ line, problem }) => `${line}: ${problem}`).join('\n')
}

export type Row = readonly [what: string, before: string, after: string, given?: Given]

export function table(name: string, rows: readonly Row[]) {
  t.test(name, async (t) => {
    for (const [what, before, expected, given] of rows) {
      t.equal(after(before, given), expected, what)
      const again = mounted(after(before, given), given)
      t.equal(again.kind, 'there already', `${what}: a second time there is nothing to do`)
    }
  })
}
