/** The connector, as it is fetched. */
import { createProgramDownloads, type ProgramDownloads } from '../bundling/program-download.ts'

export const createConnectorDownloads = (baseUrl: string): ProgramDownloads =>
  createProgramDownloads({
    name: 'service-connector',
    about: 'the connector',
    description: 'Connects an application without an open port to the sign-in protection service',
    path: '/api/v1/connector',
    folder: new URL('./', import.meta.url),
    baseUrl,
  })
