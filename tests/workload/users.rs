//! Other users on a mount.

use crate::support::Mount;

const USER: u32 = 12345;

#[test]
fn what_is_taken_away_from_another_user_is_gone_at_once() {
    let mount = Mount::new();
    let folder = mount.make("threads/t/user-data/workspace");
    let (owner, user) = (mount.actor(), mount.actor_as(USER));
    owner.run(&format!("folder = {:?}", folder.to_string_lossy()));
    user.run(&format!("folder = {:?}", folder.to_string_lossy()));
    owner.run("open(folder + '/file', 'w').write('text')");
    for _ in 0..20 {
        // Seen, and so in the caches of the kernel.
        assert_eq!(user.text("open(folder + '/file').read()"), "text");
        assert_eq!(user.run("os.listdir(folder)").as_array().unwrap().len(), 1);
        owner.run("os.chmod(folder, 0)");
        assert_eq!(user.fails("os.listdir(folder)"), "EACCES");
        assert_eq!(user.fails("os.stat(folder + '/file')"), "EACCES");
        owner.run("os.chmod(folder, 0o755)");
        owner.run("os.chmod(folder + '/file', 0o600)");
        assert_eq!(user.fails("open(folder + '/file')"), "EACCES");
        owner.run(&format!("os.chown(folder + '/file', {USER}, 0)"));
        assert_eq!(user.text("open(folder + '/file').read()"), "text");
        owner.run("os.chown(folder + '/file', 0, 0); os.chmod(folder + '/file', 0o644)");
    }
}

#[test]
fn a_file_that_is_created_read_only_is_written_by_who_created_it() {
    // git and tar do that.
    let mount = Mount::new();
    let folder = mount.make("threads/t/user-data/workspace");
    std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let user = mount.actor_as(USER);
    user.run(&format!("os.chdir({:?})", folder.to_string_lossy()));
    for mode in ["0o444", "0o000", "0o200"] {
        user.run(&format!("fd = os.open('of {mode}', os.O_CREAT | os.O_EXCL | os.O_RDWR, {mode})"));
        assert_eq!(user.number("os.write(fd, b'content')"), 7);
        user.run("os.fsync(fd)");
        assert_eq!(user.text("os.pread(fd, 100, 0)"), "content");
        user.run("os.close(fd)");
        assert_eq!(user.number(&format!("os.stat('of {mode}').st_size")), 7);
        assert_eq!(
            user.number(&format!("os.stat('of {mode}').st_mode & 0o777")),
            i64::from_str_radix(&mode[2..], 8).unwrap()
        );
    }
    assert_eq!(user.fails("open('of 0o444', 'a')"), "EACCES");
    assert_eq!(user.fails("open('of 0o200')"), "EACCES");
}
