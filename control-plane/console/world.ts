/** What the pages of the console stand on: the services that the API stands on, and its own. */
import type { Services } from '../services.ts'

/** Everything; a page names in its own signature what it uses. */
export type ConsoleWorld = Services
