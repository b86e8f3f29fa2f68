/** Guides that a model writes, and the one that `service-analyzer apply` fetches. */
import * as v from 'valibot'
import { Refusal } from '../../shared/errors.ts'
import { GuideEdit } from '../../shared/integration/guide.ts'
import { LIMITS } from '../../shared/limits.ts'
import { described, time } from '../requests/described.ts'
import { endpointsOf, json, type Endpoint } from './endpoint.ts'
import type { ApiWorld } from './world.ts'

const analyzer = endpointsOf('analysis', 'analyzer')
const analyzerInQuery = endpointsOf('analysis', 'analyzer_in_query')

const FILE_WISH = `the text of a file, of at most ${LIMITS.analysisFileCharactersMax} characters`
const FILES_WISH = `at most ${LIMITS.analysisFilesMax} files, by their paths`

const AnalysisBody = v.strictObject({
  files: v.pipe(
    v.record(
      v.string(),
      v.pipe(v.string(FILE_WISH), v.maxLength(LIMITS.analysisFileCharactersMax, FILE_WISH)),
      'files by their paths',
    ),
    v.check((files) => Object.keys(files).length <= LIMITS.analysisFilesMax, FILES_WISH),
  ),
  package_json: v.optional(v.looseObject({}, 'the content of package.json')),
})

const edits = described(v.array(GuideEdit), 'Apply all of them or none: they belong together.')

const AnalysisAnswer = v.strictObject({
  guide_id: v.string(),
  framework: v.string(),
  summary: v.string(),
  edits,
  warnings: v.array(v.string()),
  url: described(v.string(), 'The page of the guide in a browser.'),
})

const GuideAnswer = v.strictObject({
  guide_id: v.string(),
  framework: v.string(),
  created_at: time,
  edits,
  commands: described(v.array(v.string()), 'For a person to run; nothing runs them automatically.'),
  notes: v.array(v.string()),
})

export function analysisEndpoints(world: ApiWorld): readonly Endpoint[] {
  const { baseUrl, rates, analysis, guides } = world
  return [
    analyzer.post('/api/v1/ai-analyze', {
      summary: 'Has an AI model write an integration guide for the files sent, and stores it.',
      description: `Secrets are masked before anything goes to the provider that the operator has chosen; files of secrets (\`.env\`, \`*.pem\`, \`id_rsa\` …) are refused. Every edit of the guide has passed the rules that \`apply\` holds against it once more: a guide that breaks one is refused whole, with its \`problems\`. ${LIMITS.analysesPerHourMax} an hour for each tenant, beyond 429 with \`Retry-After\`: an analysis counts from when the provider is asked, also where that fails; what was refused before does not count. It may take a few minutes. What a model may read is bounded by the operator (413 with \`characters_max\`).`,
      body: AnalysisBody,
      bodyBytesMax: LIMITS.analysisBodyBytesMax,
      atOncePerTenantMax: LIMITS.analysesAtOncePerTenantMax,
      example: {
        files: { 'server.mjs': "import express from 'express'\n\nconst app = express()\n" },
        package_json: { dependencies: { express: '^5.0.0' } },
      },
      answers: { 200: json(AnalysisAnswer, 'The guide, as stored.') },
      refusals: [
        'ai_not_configured',
        'ai_busy',
        'ai_budget_spent',
        'ai_unavailable',
        'ai_timeout',
        'ai_provider_refused',
        'ai_answer_unusable',
        'ai_answer_cut',
        'ai_declined',
        'ai_edits_refused',
      ],
      admit: (c) => rates.take('analysis', c.var.tenant.tenantId, LIMITS.rateAnalysis),
      handle: async (c, { body }) => {
        const { tenant, actor } = c.var
        const { tenantId } = tenant
        const guide = await analysis.analyse(tenant, body, actor)
        const { guide_id, framework, summary, edits, warnings } = guide
        const url = `${baseUrl}/console/tenants/${tenantId}/integration`
        return c.json({ guide_id, framework, summary, edits, warnings, url })
      },
    }),
    analyzerInQuery.get('/api/v1/guide', {
      summary:
        'Shows the newest guide of the tenant, in the format that `service-analyzer apply` reads.',
      answers: { 200: json(GuideAnswer, 'The guide.') },
      refusals: ['no_guide'],
      handle: async (c) => {
        const guide = await guides.latest(c.var.tenant.tenantId)
        if (guide === undefined) throw new Refusal('no_guide')
        const { guide_id, framework, created_at, edits, commands, notes } = guide
        return c.json({ guide_id, framework, created_at, edits, commands, notes })
      },
    }),
  ]
}
