// error: conformance of 'Contact' to protocol 'Sendable' is already unavailable
import CoreDataSource

extension Contact: @unchecked Sendable {}
