/** What the pages of the console stand on: the services that the API stands on, and their own. */
import type { RateLimits } from '../../shared/rate-limits.ts'
import type { RelyingParty } from '../../shared/sign-in/relying-party.ts'
import type { Services } from '../services/services.ts'
import { createAssets } from './assets.ts'
import { createFormAnswers } from './form-answers.ts'
import { createConsoleReceipts } from './receipts.ts'

export type ConsolePages = ReturnType<typeof createConsolePages>

/** Everything; a page takes out of it what it uses. */
export interface ConsoleWorld extends Services, ConsolePages {
  readonly relyingParty: RelyingParty
  /** Shared with the API: whoever asks, an application is asked so often and no more. */
  readonly rates: RateLimits
}

export function createConsolePages(
  services: Pick<Services, 'fleet' | 'tenants' | 'clock' | 'log'>,
) {
  return {
    assets: createAssets(services),
    receipts: createConsoleReceipts(services),
    formAnswers: createFormAnswers(services),
  }
}
