internal import ManagedModel

/// Which release of the program this is.
package enum Release {
    /// Raised by hand with each release. It says nothing about stores: ``ManagedObjectModel/schemaFormat`` does.
    package static let version = "0.1.0"

    static var report: Report {
        Report(
            ["model-reset \(version)"],
            .object([("version", .string(version)), ("schemaFormat", .number(ManagedObjectModel.schemaFormat))]))
    }
}
