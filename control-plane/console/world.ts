/** What the pages of the console stand on: the services that the API stands on, and their own. */
import type { Services } from '../services/services.ts'
import { createAssets } from './assets.ts'
import { createFormAnswers } from './form-answers.ts'
import { createConsoleReceipts } from './receipts.ts'

export type ConsolePages = ReturnType<typeof createConsolePages>

/** Everything; a page names in its own signature what it uses. */
export type ConsoleWorld = Services & ConsolePages

export function createConsolePages(
  services: Pick<Services, 'fleet' | 'tenants' | 'clock' | 'log'>,
) {
  return {
    assets: createAssets(services),
    receipts: createConsoleReceipts(services),
    formAnswers: createFormAnswers(services),
  }
}
