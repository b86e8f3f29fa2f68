/** The programs that run on customers' machines: the command line tool, and the connector. */
import { createAnalyzerDownloads } from '../downloads/analyzer/program-download.ts'
import { createConnectorDownloads } from '../downloads/connector/program-download.ts'
import type { SendLarge } from '../http/large-answers.ts'
import type { Endpoint } from './endpoint.ts'
import { programEndpoints } from './program-routes.ts'
import type { ApiWorld } from './world.ts'

export function cliEndpoints({ baseUrl }: ApiWorld, sendLarge: SendLarge): readonly Endpoint[] {
  return [
    ...programEndpoints({
      group: 'integration',
      path: '/api/v1/cli',
      name: 'service-analyzer',
      called: 'The command-line tool',
      next: 'Then, in the folder of your application: `service-analyzer setup`.',
      downloads: createAnalyzerDownloads(baseUrl),
      sendLarge,
    }),
    ...programEndpoints({
      group: 'connector',
      path: '/api/v1/connector',
      name: 'service-connector',
      called: 'The connector',
      next: 'Then, with a join token: `service-connector join --origin http://127.0.0.1:3000`.',
      downloads: createConnectorDownloads(baseUrl),
      sendLarge,
    }),
  ]
}
