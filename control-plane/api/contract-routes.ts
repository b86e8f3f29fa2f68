/** The integration contract as an endpoint. */
import * as v from 'valibot'
import { described } from '../requests/described.ts'
import { endpointsOf, json, type Endpoint } from './endpoint.ts'
import { sendShared } from '../http/large-answers.ts'
import { integrationContract } from '../../shared/integration/contract.ts'

const anyone = endpointsOf('integration', 'anyone')

const Snippet = v.strictObject({ install: v.string(), file: v.string(), code: v.string() })

const ContractAnswer = v.strictObject({
  contract_version: v.string(),
  transport: v.strictObject({
    session_cookie: v.string(),
    claims_header: v.string(),
    user_header: v.string(),
    verified_header: v.string(),
    algorithm: v.string(),
  }),
  public_key: v.strictObject({ path: v.string(), filename: v.string() }),
  packages: v.strictObject({ cli_binary: v.string() }),
  frameworks: v.record(
    v.string(),
    v.strictObject({ name: v.string(), language: v.string(), modes: v.array(v.string()) }),
  ),
  snippets: described(
    v.record(v.string(), v.record(v.string(), Snippet)),
    'Per framework: `edge` for gateway and connector mode, `sdk` for sdk mode.',
  ),
})

export function contractEndpoints(baseUrl: string): readonly Endpoint[] {
  const contract = Buffer.from(JSON.stringify(integrationContract(baseUrl)))
  return [
    anyone.get('/api/v1/contract', {
      summary: 'Shows the stable names for applications and tools, with code to paste.',
      answers: { 200: json(ContractAnswer, 'The contract, the same for every tenant.') },
      handle: (c) => sendShared(c, contract, { 'Content-Type': 'application/json' }),
    }),
  ]
}
