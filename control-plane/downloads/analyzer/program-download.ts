/** The command line tool, as it is fetched. */
import { createProgramDownloads, type ProgramDownloads } from '../bundling/program-download.ts'

export const createAnalyzerDownloads = (baseUrl: string): ProgramDownloads =>
  createProgramDownloads({
    name: 'service-analyzer',
    about: 'the command line tool',
    description: 'Puts a web application behind the sign-in protection service and verifies it',
    path: '/api/v1/cli',
    folder: new URL('./', import.meta.url),
    baseUrl,
  })
