/** Hostnames that wait for a proof that they are a tenant's. */
import * as v from 'valibot'
import { count, described, time } from './described.ts'
import { text } from './fields.ts'

export const NewHostnameClaimBody = v.strictObject({
  hostname: described(text('a public DNS name', 300), 'Such as `app.example.com`.'),
})

export const HostnameClaimAnswer = v.strictObject({
  hostname: v.string(),
  record_name: described(v.string(), 'Name of the TXT record that proves it.'),
  file_url: described(v.string(), 'Address of the text file that proves it as well.'),
  proof: described(v.string(), 'What the record or the file has to hold.'),
  created_at: time,
  looks: described(count, 'How often it was checked.'),
  looked_at: described(v.nullable(time), 'When it was last checked; null: never.'),
  due_at: described(time, 'When it is checked next.'),
})

export const HostnameCheckAnswer = v.strictObject({
  hostname: v.string(),
  is_proven: described(v.boolean(), 'Whether it is served from now on.'),
})
