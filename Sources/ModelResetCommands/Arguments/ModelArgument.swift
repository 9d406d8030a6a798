internal import Foundation
internal import ManagedModel
internal import ModelReader

/// A model that is named on the command line.
struct ModelArgument {
    var path: String
    /// The name of the version; nil for the current one.
    var version: String?

    /// Reads the model; its diagnostics become warnings.
    func read(_ warnings: inout [String]) throws -> ManagedObjectModel {
        let document = try ModelReader.read(URL(filePath: path), version: version)
        warnings += document.diagnostics.map(\.description)
        return document.model
    }
}
