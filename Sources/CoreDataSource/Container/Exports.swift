// The public types of the modules below, so that an app imports this module only.
@_exported public import ManagedModel
@_exported public import struct ModelMigration.ModelDifference
@_exported public import struct QueryLanguage.StoredValue
@_exported public import protocol QueryLanguage.StoredValueConvertible
@_exported public import struct RowStore.DataSourceError
@_exported public import struct RowStore.MigrationProgress
@_exported public import struct RowStore.MigrationReport
@_exported public import struct RowStore.ResetPolicy
@_exported public import struct RowStore.StatementTrace
@_exported public import struct RowStore.StoreStartup
@_exported public import struct RowStore.StringSorting
@_exported public import enum RowStore.SynchronousLevel

// The types that a custom store needs.
@_exported public import struct RowStore.ChangeSet
@_exported public import struct RowStore.CodableRow
@_exported public import struct RowStore.ColumnLayout
@_exported public import struct RowStore.ColumnSet
@_exported public import enum RowStore.ColumnStorage
@_exported public import struct RowStore.CommitOutcome
@_exported public import struct RowStore.EntityChanges
@_exported public import class RowStore.EntityLayout
@_exported public import enum RowStore.FeedEvent
@_exported public import class RowStore.InMemoryRows
@_exported public import struct RowStore.LeaseEpoch
@_exported public import struct RowStore.LeaseTable
@_exported public import struct RowStore.LeaseTimes
@_exported public import struct RowStore.LeaseTrust
@_exported public import class RowStore.ModelLayout
@_exported public import protocol RowStore.PersistentStore
@_exported public import struct RowStore.QueryExplanation
@_exported public import enum RowStore.ReadIsolation
@_exported public import struct RowStore.RowQuery
@_exported public import struct RowStore.RowSnapshot
@_exported public import enum RowStore.RowValue
@_exported public import struct RowStore.SharedNews
@_exported public import struct RowStore.StartupPlan
@_exported public import struct RowStore.StoreMember
@_exported public import struct RowStore.StoreMetadata
@_exported public import struct RowStore.StoreOptions
@_exported public import protocol RowStore.StoreReader
@_exported public import protocol RowStore.StoreSharing
@_exported public import struct RowStore.StoredRow
@_exported public import struct RowStore.UpdatedRow
