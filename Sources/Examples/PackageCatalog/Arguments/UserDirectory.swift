internal import Foundation

/// The directory for the data of a user's programs.
enum UserDirectory {
    /// The default store. Its folder is made if it is missing.
    static func storeFile() throws -> URL {
        let folder = data.appending(component: "package-catalog", directoryHint: .isDirectory)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw CatalogError("The folder \(folder.path) cannot be made. \(error.localizedDescription)")
        }
        return folder.appending(component: "packages.sqlite")
    }

    private static var data: URL {
        // The XDG rules say to ignore relative paths.
        if let path = ProcessInfo.processInfo.environment["XDG_DATA_HOME"], path.hasPrefix("/") {
            return URL(filePath: path, directoryHint: .isDirectory)
        }
        let home = FileManager.default.homeDirectoryForCurrentUser
        return home.appending(path: ".local/share", directoryHint: .isDirectory)
    }
}
