internal import ManagedModel

/// The release of the program.
package enum Release {
    /// Increase it by hand with each release. It is not related to stores; ``ManagedObjectModel/schemaFormat`` is.
    package static let version = "0.1.0"

    static var report: Report {
        Report(
            ["model-reset \(version)"],
            .object([("version", .string(version)), ("schemaFormat", .number(ManagedObjectModel.schemaFormat))]))
    }
}
