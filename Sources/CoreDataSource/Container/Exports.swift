// Exports one module and some public types of other modules, so that an app needs to import only this module.
@_exported public import ManagedModel
@_exported public import struct ModelMigration.ModelDifference
@_exported public import struct QueryLanguage.StoredValue
@_exported public import protocol QueryLanguage.StoredValueConvertible
@_exported public import struct RowStore.DataSourceError
@_exported public import struct RowStore.HistoryFilter
@_exported public import struct RowStore.HistoryKind
@_exported public import struct RowStore.HistoryPosition
@_exported public import struct RowStore.KeptHistory
@_exported public import struct RowStore.MigrationProgress
@_exported public import struct RowStore.MigrationReport
@_exported public import struct RowStore.ResetPolicy
@_exported public import struct RowStore.StatementTrace
@_exported public import struct RowStore.StoreStartup
@_exported public import struct RowStore.StringSorting
@_exported public import enum RowStore.SynchronousLevel
