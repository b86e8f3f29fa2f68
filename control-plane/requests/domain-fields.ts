/** E-mail domains of a connection. */
import * as v from 'valibot'
import { count, described, time } from './described.ts'
import { text } from './fields.ts'

export const NewDomainBody = v.strictObject({
  domain: described(text('a domain', 300), 'What addresses end in, such as `example.com`.'),
})

export const DomainAnswer = v.strictObject({
  domain: v.string(),
  connection_id: v.string(),
  record_name: described(v.string(), 'Name of the TXT record that proves it.'),
  proof: described(v.string(), 'What the record has to hold.'),
  created_at: time,
  proven_at: described(v.nullable(time), 'null: not proven, and not used.'),
  looks: described(count, 'How often it was checked until it was proven.'),
  looked_at: described(v.nullable(time), 'When it was last checked; null: never.'),
  due_at: described(time, 'When it is checked next.'),
  stops_at: described(
    v.nullable(time),
    'The record is missing: when the domain stops being used unless the record comes back.',
  ),
})

export const DomainCheckAnswer = v.strictObject({
  domain: v.string(),
  is_proven: described(v.boolean(), 'Whether it is used from now on.'),
})
