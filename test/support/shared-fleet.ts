/** One fleet for the files of a room whose stories are each a tenant's; where a file runs alone, its own. */
import { becomeOperator, GRACE, linkForOperator } from './console-browser.ts'
import type { Page } from 'playwright-core'
import { startFleet, type Fleet } from './programs.ts'
import { afterRoom } from './room.ts'

/** What any of them needs. */
const gatewayConfig = `webhooks: { allow_private: ["127.0.0.0/8"] }
user_directory: { allow: ["127.0.0.0/8"] }`

let shared: Fleet | undefined

/** Who asks brings tenants and people whose names no other file uses, and stops nothing. */
export async function sharedFleet(t: Parameters<typeof startFleet>[0]): Promise<Fleet> {
  if (shared !== undefined) return shared
  let isKept = false
  const after = (work: () => Promise<void>) => {
    isKept = afterRoom(work)
    if (!isKept) t.after(work)
  }
  const fleet = await startFleet({ after }, { gatewayConfig })
  if (isKept) shared = fleet
  return fleet
}

/** A new operator, who has signed in just now, as what some pages show asks for. */
export async function becomeNewOperator(page: Page, fleet: Fleet, name: string): Promise<void> {
  const account = { ...GRACE, email: `${name}@operators.test` }
  await becomeOperator(page, await linkForOperator(fleet), account)
}
