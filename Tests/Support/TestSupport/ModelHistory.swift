package import Foundation

/// The versions of a real app's model, which is not part of the package: see ``PackageFiles/models``.
package struct ModelHistory: Sendable, CustomStringConvertible {
    package let description: String
    /// The versions, the oldest first.
    package let versions: [URL]
    /// The versions to which the version before cannot be migrated, with the beginning of the reason.
    package let refused: [String: String]

    package var steps: [(old: URL, new: URL)] { zip(versions, versions.dropFirst()).map { ($0, $1) } }

    /// Empty if there are no models on this machine.
    package static let all: [ModelHistory] = [
        history(
            "wireapp__wire-ios-data-model__zmessaging",
            ["zmessaging2.54.0": "Conversation.mutedStatus: Boolean -> Integer 32 cannot be carried over"]),
        history(
            "artsy__energy__ArtsyPartner",
            [
                "ArtsyFolio v1.7": "Album.cover: destination Artwork -> Image cannot be carried over",
                "ArtsyFolio v2.1":
                    "Show.installationImages: destination Image -> InstallShotImage cannot be carried over",
                "ArtsyFolio v2.2": "Artwork.locations: destination Artwork -> Location cannot be carried over",
            ]),
        history("inaturalist__INaturalistIOS__INaturalist", [:]),
        history(
            "rileytestut__AltStore__AltStore",
            [
                "AltStore 2": "StoreApp.iconURL: the attribute is new and required, and has no default value",
                "AltStore 3": "InstalledApp.installedDate: the attribute is new and required, and has no default value",
            ]),
    ].compactMap(\.self)

    private static func history(_ name: String, _ refused: [String: String]) -> ModelHistory? {
        let folder = PackageFiles.models.appending(component: name)
        let bundles = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        guard let bundle = bundles?.first(where: { $0.pathExtension == "xcdatamodeld" }),
            let files = try? FileManager.default.contentsOfDirectory(at: bundle, includingPropertiesForKeys: nil)
        else { return nil }
        let versions = files.filter { $0.pathExtension == "xcdatamodel" }.sorted {
            orderedName($0).compare(orderedName($1), options: .numeric) == .orderedAscending
        }
        return ModelHistory(description: bundle.lastPathComponent, versions: versions, refused: refused)
    }

    /// The sort key of a version. One app was called ArtsyPartner before it was called ArtsyFolio.
    private static func orderedName(_ version: URL) -> String {
        version.deletingPathExtension().lastPathComponent.replacingOccurrences(of: "ArtsyPartner", with: "Arts")
    }
}
