import { schema } from '../schema.ts'
import { allBy, findBy, upsertInto } from '../statements.ts'

const table = schema.tenantPolicies

export const policiesOf = allBy(table, ['tenantId'])

export const findPolicy = findBy(table, 'tenantId', 'name')

export const upsertPolicy = upsertInto(table, ['tenantId', 'name'], 'settings', 'updatedAt')
