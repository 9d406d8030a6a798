// The values that an app meets come from the modules below; it imports this one only.
@_exported public import ManagedModel
@_exported public import struct RowStore.DataSourceError
@_exported public import struct RowStore.MigrationProgress
@_exported public import struct RowStore.MigrationReport
@_exported public import struct RowStore.ResetPolicy
@_exported public import struct RowStore.StatementTrace
@_exported public import struct RowStore.StoreStartup
@_exported public import struct RowStore.StringSorting
@_exported public import enum RowStore.SynchronousLevel
