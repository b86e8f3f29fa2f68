/** The API with a provider's stand-in behind it, and a project that a guide is written for. */
import { pino } from 'pino'
import type { AiSettings } from '../../../control-plane/analysis/provider.ts'
import { startAiProvider } from '../../support/ai-provider.ts'
import { startApi } from '../../support/api.ts'
import { movableClock, type ServicesOptions } from '../../support/control-plane.ts'

interface Teardown {
  teardown(work: () => unknown): void
}

export const SERVER = `import express from 'express'

const app = express()
app.use(express.static('public'))

app.get('/', (request, response) => {
  response.send('Hello')
})

app.listen(process.env.PORT ?? 3000)
`
export const FILES: Readonly<Record<string, string>> = { 'src/server.mjs': SERVER }
export const PACKAGE_JSON = { type: 'module', dependencies: { express: '^5.0.0' } }

const IMPORT = {
  path: 'src/server.mjs',
  action: 'modify',
  find: "import express from 'express'\n",
  replace: "import express from 'express'\nimport { verifyClaims } from 'service-node'\n",
  content: '',
  why: 'Imports the middleware.',
}
const MOUNT = {
  path: 'src/server.mjs',
  action: 'modify',
  find: 'const app = express()\n',
  replace: 'const app = express()\napp.use(verifyClaims().express()) // before everything else\n',
  content: '',
  why: 'Mounts it before everything else.',
}

/** What a model that does its work answers. */
export const GOOD = {
  framework: 'express',
  summary: 'A small Express application.',
  edits: [IMPORT, MOUNT],
  notes: ['The key file has to be there.'],
  warnings: [],
}

export const withEdits = (...edits: readonly Record<string, unknown>[]) => ({ ...GOOD, edits })
export const modify = (path: string, find: string, replace: string) => ({
  ...{ path, action: 'modify', find, replace, content: '', why: '' },
})
export const create = (path: string, content: string) => ({
  ...{ path, action: 'create', find: '', replace: '', content, why: '' },
})

export interface WorldOptions extends Omit<ServicesOptions, 'ai' | 'clock' | 'log'> {
  readonly kind?: AiSettings['provider']
  readonly ai?: Partial<AiSettings>
}

export async function startAnalysis(t: Teardown, options: WorldOptions = {}) {
  const { kind = 'anthropic', ai = {}, ...rest } = options
  const provider = await startAiProvider(t, kind)
  const clock = movableClock()
  const lines: string[] = []
  const waits: number[] = []
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  const world = {
    clock,
    log,
    ai: provider.settings(ai),
    aiWorld: {
      wait: async (ms: number) => void waits.push(ms),
      random: () => 0.5,
      nowMs: () => clock.nowMs(),
    },
    ...rest,
  }
  const api = await startApi(t, world)
  const { analyzer_key: key } = await api.tenant('acme')
  provider.says(GOOD)

  return {
    ...api,
    provider,
    clock,
    key,
    /** Of the log, and how long was waited before another attempt. */
    lines,
    waits,
    analyse: (
      files: Record<string, unknown> = FILES,
      more: Record<string, unknown> = {},
      as = key,
    ) => api.call('POST', '/api/v1/ai-analyze', { files, ...more }, { key: as }),
    guide: (as = key) => api.call('GET', `/api/v1/guide?api_key=${as}`, undefined, { key: null }),
    audit: async () =>
      (await api.operator('GET', '/audit?tenant_id=acme')).items.filter(
        ({ action }) => action === 'analysis.run',
      ),
  }
}
